#include "study/workers.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <thread>

#include "base/error.h"
#include "base/version.h"
#include "study/journal.h"

namespace saltus {
namespace {

using std::chrono::milliseconds;

// Counts runs that the processes of this machine have done; shared by all of them.
class SharedCounter {
 public:
  SharedCounter() {
    void* memory =
        mmap(nullptr, sizeof(Count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    count_ = new (memory) Count(0);
  }
  ~SharedCounter() { munmap(count_, sizeof(Count)); }
  SharedCounter(const SharedCounter&) = delete;
  SharedCounter& operator=(const SharedCounter&) = delete;

  void add() { count_->fetch_add(1); }
  std::size_t value() const { return count_->load(); }

 private:
  using Count = std::atomic<std::size_t>;
  static_assert(Count::is_always_lock_free);
  Count* count_;
};

// Everything that decides about the results.
std::string identity_of(const PreparedStudy& study, const WorkOptions& options) {
  std::string text =
      fmt::format("saltus {} study of {}\n{}\n", kVersion, study.model(), options.identity);
  for (const RunRecord& record : study.study().records)
    text += fmt::format("record {} = {}\n", record.name, record.text);
  text += fmt::format("runs {} in blocks of {}\n", study.runs(), study.block_size());
  const Design& design = study.study().design;
  for (const std::string& name : design.names) text += name + "\n";
  text.append(reinterpret_cast<const char*>(design.values.data()),
              design.values.size() * sizeof(double));
  return text;
}

std::string problem_file(const WorkOptions& options) { return options.journal + "/problem"; }

// Works until all blocks are filed or claimed by others. In a process of its own.
int work(const PreparedStudy& study, const WorkOptions& options, std::size_t worker,
         SharedCounter& done) {
  try {
    Journal journal(options.journal, study.blocks());
    const std::size_t workers = options.jobs * options.ranks;
    std::size_t next = study.blocks() * worker / workers;
    // Those that wait take over what another one leaves undone.
    while (const auto block = journal.claim(next, options.rank == 0)) {
      journal.file(*block, write_runs(study.run_block(*block, [&](std::size_t) { done.add(); })));
      next = *block + 1;
    }
    return 0;
  } catch (const std::exception& error) {
    std::ofstream(problem_file(options)) << error.what();
    return 1;
  }
}

std::string session_file(const WorkOptions& options) { return options.journal + "/session"; }

// Only one of the programs started together may touch what was there before.
void wait_for_leader(const WorkOptions& options) {
  constexpr int kSeconds = 60;
  for (int k = 0; k < kSeconds * 20; ++k) {
    std::ifstream in(session_file(options));
    std::string session;
    if (std::getline(in, session) && session == options.session) return;
    std::this_thread::sleep_for(milliseconds(50));
  }
  throw Error(
      fmt::format("the journal '{}' has not been begun by rank 0 within {} s; do all ranks "
                  "see the same folder?",
                  options.journal, kSeconds));
}

void begin(Journal& journal, const std::string& identity, const WorkOptions& options) {
  const std::optional<std::string> found = journal.identity();
  if (options.resume && !found)
    throw Error(fmt::format("--resume: there is no journal '{}'; nothing of this study is done yet",
                            options.journal));
  if (options.resume && *found != identity) {
    const auto head = [](const std::string& text) { return text.substr(0, text.find("\nruns ")); };
    throw Error(fmt::format(
        "--resume: the journal '{}' is of another study ({}); repeat the "
        "command that began it, or remove the folder",
        options.journal,
        head(*found) == head(identity) ? "other values or another number of runs"
                                       : "another model, other options or other records"));
  }
  if (!options.resume && found && journal.filed() > 0)
    throw Error(
        fmt::format("'{}' holds the finished runs of a study that was interrupted; go on "
                    "with --resume, or remove the folder to begin again",
                    options.journal));
  if (!options.resume) journal.begin(identity);
  std::ofstream(session_file(options)) << options.session << "\n";
}

}  // namespace

std::vector<StudyRun> run_study(const PreparedStudy& study, const WorkOptions& options) {
  const std::string identity = identity_of(study, options);
  if (options.rank != 0) wait_for_leader(options);
  Journal journal(options.journal, study.blocks());
  if (options.rank == 0) begin(journal, identity, options);
  const std::size_t before = journal.filed() * study.block_size();

  SharedCounter done;
  std::vector<pid_t> workers;
  for (std::size_t k = 0; k < options.jobs; ++k) {
    const pid_t child = fork();
    if (child < 0) throw Error(fmt::format("cannot start a worker: {}", std::strerror(errno)));
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      std::signal(SIGINT, SIG_DFL);
      std::signal(SIGTERM, SIG_DFL);
      _exit(work(study, options, options.rank * options.jobs + k, done));
    }
    workers.push_back(child);
  }
  bool interrupted = false;
  bool lost = false;
  while (!workers.empty()) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, WNOHANG);
    if (ended > 0) {
      std::erase(workers, ended);
      lost = lost || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
      continue;
    }
    if (ended < 0 && errno == ECHILD) break;
    if (!interrupted && options.stop_requested != nullptr && options.stop_requested->load()) {
      interrupted = true;
      for (const pid_t worker : workers) kill(worker, SIGKILL);
      continue;
    }
    if (options.progress) options.progress(std::min(before + done.value(), study.runs()));
    std::this_thread::sleep_for(milliseconds(20));
  }
  if (interrupted || options.rank != 0) return {};
  if (journal.filed() < study.blocks()) {
    std::ifstream in(problem_file(options));
    std::string problem;
    if (lost && std::getline(in, problem)) throw Error(problem);
    return {};
  }
  std::vector<StudyRun> runs;
  for (const std::string& block : journal.collect())
    for (StudyRun& run : read_runs(block)) runs.push_back(std::move(run));
  return runs;
}

void remove_journal(const WorkOptions& options) { Journal(options.journal, 0).remove(); }

void find_rank(WorkOptions& options) {
  const auto number = [](const char* name) -> long {
    const char* text = std::getenv(name);
    return text == nullptr ? -1 : std::strtol(text, nullptr, 10);
  };
  const auto take = [&](const char* rank, const char* size) {
    if (number(size) < 2 || number(rank) < 0) return false;
    options.rank = static_cast<std::size_t>(number(rank));
    options.ranks = static_cast<std::size_t>(number(size));
    return true;
  };
  if (!take("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE") && !take("PMI_RANK", "PMI_SIZE") &&
      !take("SLURM_PROCID", "SLURM_NTASKS"))
    return;
  for (const char* name :
       {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_JOBID", "SLURM_JOB_ID", "SLURM_STEP_ID"})
    if (const char* text = std::getenv(name)) options.session += std::string(text) + " ";
}

}  // namespace saltus
