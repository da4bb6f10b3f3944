#include <fcntl.h>
#include <fmt/format.h>
#include <httplib.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/interrupt.h"
#include "cli/say.h"
#include "cli/studio/page.h"

// The program `saltus-studio`, which `saltus studio` starts: the library for HTTP comes with others
// that would make every start of `saltus` fifty times as long.
//
//   saltus-studio PATH_OF_SALTUS DIR PORT BUNDLED_MODEL...
//
// A page on this machine alone: choose a model below a folder, change its parameters, run it, look
// at the report. Every run is a process of its own (`saltus simulate`) with a folder of its own
// below DIR/studio, so that nothing a model does reaches this server, and runs of former sessions
// are listed again.
//
// Who may ask: requests must name this server (a page of another site that is sent here by its name
// does not), come from its own page if they say where they come from, and carry the token that was
// printed at the start.

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX asks for it

namespace saltus {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string random_token() {
  std::random_device source;
  std::string token;
  for (int k = 0; k < 4; ++k) token += fmt::format("{:08x}", source());
  return token;
}

// Runs a program; standard output and error go to files.
pid_t start_program(const std::string& program, const std::vector<std::string>& words,
                    const fs::path& out, const fs::path& err) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out.c_str(), kFlags, 0600);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err.c_str(), kFlags, 0600);
  pid_t process = -1;
  const int problem =
      posix_spawn(&process, program.c_str(), &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (problem != 0) throw Error(fmt::format("cannot start '{}'", program));
  return process;
}

// The time in the last whole line of a table of points; -1: there is none yet.
double last_time(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file.seekg(0, std::ios::end)) return -1.0;
  const auto size = static_cast<std::streamoff>(file.tellg());
  constexpr std::streamoff kTail = 1 << 16;
  file.seekg(std::max<std::streamoff>(0, size - kTail));
  std::ostringstream text;
  text << file.rdbuf();
  const std::string tail = text.str();
  const std::size_t end = tail.rfind('\n');
  if (end == std::string::npos || end == 0) return -1.0;
  const std::size_t begin = tail.rfind('\n', end - 1) + 1;  // npos + 1 is 0
  double time = -1.0;
  std::from_chars(tail.data() + begin, tail.data() + end, time);
  return time;
}

class Studio {
 public:
  Studio(std::string program, const std::string& folder, std::vector<std::string> bundled)
      : program_(std::move(program)), folder_(fs::canonical(folder)), bundled_(std::move(bundled)) {
    fs::create_directories(runs_folder());
    if (fs::is_symlink(runs_folder()))
      throw Error(fmt::format("'{}' is a link", runs_folder().string()));
  }
  ~Studio() {
    for (auto& [id, process] : running_) kill(process, SIGTERM);
    for (auto& [id, process] : running_) waitpid(process, nullptr, 0);
  }
  Studio(const Studio&) = delete;
  Studio& operator=(const Studio&) = delete;

  Json models() const {
    std::vector<std::string> names;
    std::error_code problem;
    constexpr std::size_t kMost = 1000;
    for (auto place = fs::recursive_directory_iterator(
             folder_, fs::directory_options::skip_permission_denied, problem);
         place != fs::recursive_directory_iterator() && names.size() < kMost;
         place.increment(problem)) {
      if (problem) break;
      if (place->path() == runs_folder()) place.disable_recursion_pending();
      if (place->is_regular_file(problem) && place->path().extension() == ".mo" &&
          place->path().filename() != "package.mo")
        names.push_back(fs::relative(place->path(), folder_, problem).string());
    }
    std::sort(names.begin(), names.end());
    names.insert(names.end(), bundled_.begin(), bundled_.end());
    return {{"models", names}};
  }

  // Parameters and experiment, as `saltus check --json` tells them.
  Json model(const std::string& name) {
    const fs::path scratch = make_scratch();
    const pid_t process =
        start_program(program_, {"saltus", "check", argument_of(name), "--json", "-"},
                      scratch / "out", scratch / "err");
    const int status = wait_for(process);
    const std::string out = read_text(scratch / "out");
    const std::string err = read_text(scratch / "err");
    fs::remove_all(scratch);
    if (status != 0) throw Error(err.empty() ? "the model could not be read" : err);
    return Json::parse(out);
  }

  std::string run(const Json& request) {
    const auto text = [&](const char* field) {
      return request.contains(field) && request[field].is_string()
                 ? request[field].get<std::string>()
                 : std::string();
    };
    std::vector<std::string> words = {"saltus", "simulate", argument_of(text("model"))};
    const Json settings = request.value("settings", Json::object());
    for (const auto& [name, value] : settings.items()) {
      if (!value.is_string()) throw Error(fmt::format("the value of '{}' is no text", name));
      words.push_back("--set=" + name + "=" + value.get<std::string>());
    }
    for (const auto& [field, option] :
         {std::pair{"stop_time", "--stop-time"}, std::pair{"tolerance", "--tolerance"},
          std::pair{"method", "--method"}})
      if (const std::string value = text(field); !value.empty())
        words.push_back(fmt::format("{}={}", option, value));
    const std::scoped_lock lock(mutex_);
    constexpr std::size_t kMostAtOnce = 8;
    reap();
    if (running_.size() >= kMostAtOnce)
      throw Error(fmt::format("{} runs go on already; stop one, or wait", kMostAtOnce));
    std::string id = new_id(text("model"));
    const fs::path place = runs_folder() / id;
    const auto file = [&](const char* name) { return (place / name).string(); };
    words.insert(words.end(), {"--output", file("points"), "--report", file("report.html"),
                               "--json", file("summary.json"), "--quiet"});
    double stop_time = 0.0;
    const std::string wanted = text("stop_time");
    std::from_chars(wanted.data(), wanted.data() + wanted.size(), stop_time);
    std::ofstream(place / "run.json")
        << Json{{"model", text("model")}, {"settings", settings}, {"stop_time", stop_time}};
    running_[id] = start_program(program_, words, place / "out.txt", place / "err.txt");
    return id;
  }

  void stop(const std::string& id) {
    const std::scoped_lock lock(mutex_);
    if (const auto run = running_.find(id); run != running_.end()) kill(run->second, SIGTERM);
  }

  Json runs() {
    const std::scoped_lock lock(mutex_);
    reap();
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(runs_folder()))
      if (fs::exists(entry.path() / "run.json")) names.push_back(entry.path().filename());
    std::sort(names.rbegin(), names.rend());  // the newest first
    constexpr std::size_t kMost = 200;
    if (names.size() > kMost) names.resize(kMost);
    Json list = Json::array();
    for (const std::string& id : names) list.push_back(describe(id));
    return {{"runs", list}};
  }

  // Empty: there is no such run, or it has no report.
  std::string report(const std::string& id) const {
    return is_id(id) ? read_text(runs_folder() / id / "report.html") : std::string();
  }

 private:
  fs::path runs_folder() const { return folder_ / "studio"; }

  static bool is_id(const std::string& id) {
    return !id.empty() && id[0] != '.' && std::all_of(id.begin(), id.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
    });
  }

  // What `saltus simulate` is given for a name of models(): no other path is taken.
  std::string argument_of(const std::string& name) const {
    const Json all = models();
    const auto& names = all["models"];
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw Error(fmt::format("there is no model '{}' here", name));
    const fs::path path = folder_ / name;
    if (!name.ends_with(".mo")) return name;  // a bundled example
    const fs::path real = fs::canonical(path);
    if (real.string().compare(0, folder_.string().size() + 1, folder_.string() + "/") != 0)
      throw Error(fmt::format("'{}' is outside of the folder of the studio", name));
    return real.string();
  }

  fs::path make_scratch() const {
    std::string pattern = (fs::temp_directory_path() / "saltus-studio-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw Error("cannot make a folder for scratch files");
    return pattern;
  }

  // Reading a model may take long, or never end: it gets half a minute.
  static int wait_for(pid_t process) {
    for (int k = 0; k < 600; ++k) {
      int status = 0;
      if (waitpid(process, &status, WNOHANG) == process)
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
    return -1;
  }

  void reap() {
    for (auto run = running_.begin(); run != running_.end();) {
      int status = 0;
      if (waitpid(run->second, &status, WNOHANG) == run->second) {
        std::ofstream(runs_folder() / run->first / "status.txt")
            << (WIFEXITED(status) ? WEXITSTATUS(status) : -1);
        run = running_.erase(run);
      } else {
        ++run;
      }
    }
  }

  std::string new_id(const std::string& model) const {
    std::string stem =
        fs::path(model).extension() == ".mo" ? fs::path(model).stem().string() : model;
    for (char& c : stem)
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '.') c = '-';
    std::size_t last = 0;
    for (const auto& entry : fs::directory_iterator(runs_folder())) {
      const std::string name = entry.path().filename();
      std::size_t number = 0;
      std::from_chars(name.data(), name.data() + name.size(), number);
      last = std::max(last, number);
    }
    std::string id = fmt::format("{:04}-{}", last + 1, stem);
    if (!fs::create_directory(runs_folder() / id)) throw Error("cannot make a folder for the run");
    return id;
  }

  Json describe(const std::string& id) {
    const fs::path place = runs_folder() / id;
    Json run = Json::parse(read_text(place / "run.json"), nullptr, false);
    if (!run.is_object()) run = Json::object();
    Json told = {{"id", id},
                 {"model", run.value("model", "")},
                 {"settings", run.value("settings", Json::object())},
                 {"stop_time", run.value("stop_time", 0.0)},
                 {"has_report", fs::exists(place / "report.html")},
                 {"message", ""},
                 {"time", 0.0}};
    if (running_.contains(id)) {
      told["status"] = "running";
      std::error_code problem;
      for (const auto& entry : fs::directory_iterator(place / "points", problem))
        if (entry.path().extension() == ".csv")
          told["time"] = std::max(told["time"].get<double>(), last_time(entry.path()));
      return told;
    }
    const std::string status = read_text(place / "status.txt");
    told["status"] = status == "0" ? "completed" : "failed";
    if (status != "0") {
      const std::string err = read_text(place / "err.txt");
      told["message"] = status.empty() ? "the studio ended before this run did" : err;
    }
    return told;
  }

  std::string program_;
  fs::path folder_;
  std::vector<std::string> bundled_;
  std::mutex mutex_;
  std::map<std::string, pid_t> running_;
};

// Equal texts take as long as different ones.
bool equal_secrets(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t k = 0; k < a.size(); ++k)
    difference |=
        static_cast<unsigned>(static_cast<unsigned char>(a[k]) ^ static_cast<unsigned char>(b[k]));
  return difference == 0;
}

// Why a request is refused; empty: it may pass.
std::string objection_to_request(const httplib::Request& request, const std::string& token,
                                 int port) {
  const std::set<std::string> own = {fmt::format("127.0.0.1:{}", port),
                                     fmt::format("localhost:{}", port)};
  if (!own.contains(request.get_header_value("Host"))) return "this is not the name of the studio";
  if (request.has_header("Origin")) {
    const std::string origin = request.get_header_value("Origin");
    if (!origin.starts_with("http://") || !own.contains(origin.substr(7)))
      return "requests of other pages are refused";
  }
  const std::string given = request.has_header("X-Saltus-Token")
                                ? request.get_header_value("X-Saltus-Token")
                                : request.get_param_value("token");
  if (!equal_secrets(given, token)) return "the token is missing or wrong: use the printed address";
  return {};
}

void answer(httplib::Response& response, const std::function<Json()>& make) {
  try {
    response.set_content(make().dump(-1, ' ', false, Json::error_handler_t::replace),
                         "application/json");
  } catch (const std::exception& error) {
    response.status = 400;
    response.set_content(
        Json{{"error", error.what()}}.dump(-1, ' ', false, Json::error_handler_t::replace),
        "application/json");
  }
}

int serve(const std::string& program, const std::string& folder, int port,
          std::vector<std::string> bundled) {
  Studio studio(program, folder, std::move(bundled));
  const std::string token = random_token();
  httplib::Server server;
  server.set_payload_max_length(1 << 20);
  if (port == 0) {
    port = server.bind_to_any_port("127.0.0.1");
    if (port < 0) throw Error("no port could be had on 127.0.0.1");
  } else if (!server.bind_to_port("127.0.0.1", port)) {
    throw Error(fmt::format("port {} cannot be used; without --port a free one is taken", port));
  }
  server.set_pre_routing_handler([&](const httplib::Request& request, httplib::Response& response) {
    const std::string objection = objection_to_request(request, token, port);
    if (objection.empty()) return httplib::Server::HandlerResponse::Unhandled;
    response.status = 403;
    response.set_content(Json{{"error", objection}}.dump(), "application/json");
    return httplib::Server::HandlerResponse::Handled;
  });
  server.set_default_headers({{"Cache-Control", "no-store"},
                              {"X-Content-Type-Options", "nosniff"},
                              {"Referrer-Policy", "no-referrer"},
                              {"X-Frame-Options", "SAMEORIGIN"}});
  server.Get("/", [](const httplib::Request&, httplib::Response& response) {
    response.set_header("Content-Security-Policy",
                        "default-src 'none'; style-src 'unsafe-inline'; script-src "
                        "'unsafe-inline'; connect-src 'self'; frame-src 'self'");
    response.set_content(kStudioPage, "text/html; charset=utf-8");
  });
  server.Get("/api/models", [&](const httplib::Request&, httplib::Response& response) {
    answer(response, [&] { return studio.models(); });
  });
  server.Get("/api/model", [&](const httplib::Request& request, httplib::Response& response) {
    answer(response, [&] { return studio.model(request.get_param_value("name")); });
  });
  server.Get("/api/runs", [&](const httplib::Request&, httplib::Response& response) {
    answer(response, [&] { return studio.runs(); });
  });
  server.Post("/api/run", [&](const httplib::Request& request, httplib::Response& response) {
    answer(response, [&] { return Json{{"id", studio.run(Json::parse(request.body))}}; });
  });
  server.Post("/api/stop", [&](const httplib::Request& request, httplib::Response& response) {
    answer(response, [&] {
      studio.stop(Json::parse(request.body).at("id").get<std::string>());
      return Json::object();
    });
  });
  server.Get("/report", [&](const httplib::Request& request, httplib::Response& response) {
    const std::string page = studio.report(request.get_param_value("id"));
    if (page.empty()) {
      response.status = 404;
      response.set_content("there is no such report", "text/plain");
      return;
    }
    response.set_content(page, "text/html; charset=utf-8");
  });

  const InterruptFlag interrupt;
  std::thread watch([&] {
    while (!*interrupt.flag()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    server.stop();
  });
  tell("The studio of '{}' is at\n  http://127.0.0.1:{}/?token={}\nCtrl-C ends it.\n", folder, port,
       token);
  std::fflush(stdout);
  server.listen_after_bind();
  watch.join();
  return 0;
}

}  // namespace
}  // namespace saltus

int main(int argc, char** argv) {
  constexpr int kWrongInput = 2;
  if (argc < 4) {
    saltus::say_error("start the studio by `saltus studio DIR`");
    return kWrongInput;
  }
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return saltus::serve(argv[1], argv[2], std::stoi(argv[3]), {argv + 4, argv + argc});
  } catch (const std::exception& error) {
    saltus::say_error(std::string_view(error.what()));
    return kWrongInput;
  }
}
