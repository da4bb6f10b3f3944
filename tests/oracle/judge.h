#pragma once

#include <string>

#include "oracle/network.h"
#include "oracle/writings.h"

namespace saltus::oracle {

// What the motion of a network is, and how far that is known.
struct Reference {
  Motion motion;
  double speed_error = 0.0;
  double angle_error = 0.0;
  bool failed = false;
  // The motion changes by more than a run may err if parameters change by 1e-9.
  bool ill_posed = false;
  std::string note;
};

enum class Outcome {
  kRight,
  kWrong,
  kEndedEarly,
  kRefused,
  kHang,
  kCrash,
  kIllPosed,
  kNoReference
};
const char* to_string(Outcome outcome);

struct Verdict {
  Outcome outcome = Outcome::kRight;
  std::string reason;
  double seconds = 0.0;  // of Saltus, processor time
};

struct JudgeOptions {
  double tolerance = 1e-6;
  double seconds = 20.0;  // processor time a run may take
  std::string library_folder;
};

// Speeds and angles may differ by this.
struct Bound {
  double speed = 0.0;
  double angle = 0.0;
};
Bound bound(const Reference& reference, double tolerance);

// Runs Saltus on the writing in a process of its own and compares.
Verdict judge(const Written& written, const Network& network, const Reference& reference,
              const JudgeOptions& options);

}  // namespace saltus::oracle
