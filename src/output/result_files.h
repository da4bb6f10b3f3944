#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "output/mat.h"
#include "output/partial_file.h"
#include "output/sampled_points.h"
#include "simulate/trajectory.h"

namespace saltus {

// Puts the points of a run into files as they are made, so that a run of any length takes bounded
// memory and what was computed survives whatever ends the program. While the run lasts the files
// are called <folder>/<model>.partial.csv and the like; everything is handed to the system at least
// once a second; finish() gives them their names. HDF5 files cannot be read before they are whole:
// their points wait in a .partial.mat.
class ResultFiles : public ResultSink {
 public:
  // Formats are "csv", "mat" and "h5". With `for_pictures` a sample of the points stays in memory.
  ResultFiles(std::string folder, const std::string& model, std::vector<std::string> formats,
              bool for_pictures);
  ~ResultFiles() override;

  void begin(const Trajectory& layout) override;
  void store(double time, ModeId mode, const double* columns) override;

  // Ends the files and gives them their names. Appends the paths, and one sentence each for what
  // could not be written and for what should be known.
  void finish(std::vector<std::string>& written, std::vector<std::string>& failures);
  // What should be known: files of other runs that were found.
  const std::vector<std::string>& notes() const { return notes_; }
  // The files as they are called now.
  std::vector<std::string> paths() const;
  // Puts the sample into the trajectory.
  void move_sample_to(Trajectory& trajectory) { sample_.move_to(trajectory); }

 private:
  // What is at a path, to notice that it is something else later; empty: nothing.
  struct Identity {
    unsigned long device = 0, number = 0;
    long seconds = 0, nanoseconds = 0;
    bool operator==(const Identity&) const = default;
  };
  // A name that results get at the end.
  struct Place {
    explicit Place(std::string where) : path(std::move(where)), before(identity_of(path)) {}
    std::string path;
    std::optional<Identity> before;  // what was there when the run began
  };
  struct File {
    bool is_mat = false;
    std::optional<Place> place;  // of the file itself; none: it goes when the run has ended
    std::optional<Place> hdf5;   // of a compressed copy
    std::unique_ptr<PartialFile> file;
    std::string header;
    MatHeader mat;
    std::string waiting;    // bytes of points that are not in the file yet
    std::size_t point = 0;  // its size in bytes; 0: a line
    bool failed = false;
  };

  static std::optional<Identity> identity_of(const std::string& path);
  void open(File& file, double time);
  void write_header(File& file, double time);
  void widen(File& file, const Trajectory& former);
  void flush(File& file);
  void flush_regularly();
  bool is_of_another_model(const File& file) const;
  // Where results may be put so that nothing of others is lost.
  std::string settle_path(const Place& place, const std::function<bool()>& is_of_another_model);
  std::string publish(File& file);
  std::string publish_hdf5(const File& file);

  std::string folder_;
  std::string model_;
  std::string stem_;
  bool for_pictures_;
  std::vector<File> files_;
  std::vector<std::string> notes_;
  Trajectory layout_;
  double first_time_ = 0.0;
  double last_time_ = 0.0;
  SampledPoints sample_;

  mutable std::mutex mutex_;  // of what the thread below touches: files_, failure_
  std::string failure_;       // met by the thread
  std::condition_variable wake_;
  bool ending_ = false;
  std::thread flusher_;
};

}  // namespace saltus
