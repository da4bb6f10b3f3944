#include "modelica/library.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "modelica/package_folder.h"
#include "modelica/parser.h"

namespace saltus {
namespace {

namespace fs = std::filesystem;

class LibraryTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::temp_directory_path() / ("saltus_library_" + std::string(test->name()));
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  fs::path write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
    return root_ / path;
  }

  // Lib with Sub (folder), Part (file), Inside (in package.mo) and a broken file.
  void write_package(const std::string& name = "Lib") const {
    write(name + "/package.mo",
          "within ; package Lib constant Real k = 1; model Inside end Inside; end Lib;");
    write(name + "/package.order", "Sub\nk\nPart\r\nInside\n");
    write(name + "/Part.mo", "within Lib; model Part model Nested end Nested; end Part;");
    write(name + "/Sub/package.mo", "within Lib; package Sub end Sub;");
    write(name + "/Sub/Deep.mo", "within Lib.Sub; block Deep end Deep;");
    write(name + "/Broken.mo", "within Lib; model Broken Real; Integer = 3; end Broken;");
    write(name + "/Resources/notes.mo.txt", "not a class");
  }

  fs::path root_;
};

std::string message_of(const auto& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  ADD_FAILURE() << "nothing thrown";
  return {};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(LibraryTest, FindsClassesOfFilesAndFoldersOnDemand) {
  write_package();
  Library library;
  library.add_folder(root_);
  EXPECT_EQ(library.files_read(), 0U);
  const ClassDefinition* deep = library.find("Lib.Sub.Deep");
  ASSERT_NE(deep, nullptr);
  EXPECT_EQ(library.files_read(), 3U);  // two package.mo and the file itself
  EXPECT_EQ(deep->qualified_name(), "Lib.Sub.Deep");
  EXPECT_EQ(deep->enclosing, library.find("Lib.Sub"));
  EXPECT_EQ(library.find("Lib.Sub.Deep"), deep);
  EXPECT_EQ(library.files_read(), 3U);
  EXPECT_NE(library.find("Lib.Part.Nested"), nullptr);
  EXPECT_NE(library.find("Lib.Inside"), nullptr);
  EXPECT_EQ(library.find("Lib.k"), nullptr);
  EXPECT_EQ(library.find("Lib.Resources"), nullptr);
  EXPECT_EQ(library.find("Other"), nullptr);
  EXPECT_EQ(library.find(""), nullptr);
  EXPECT_EQ(library.folder_of(*library.find("Lib")), root_ / "Lib");
}

TEST_F(LibraryTest, ListsChildrenInTheOrderOfThePackage) {
  write_package();
  Library library;
  library.add_folder(root_);
  EXPECT_EQ(library.child_names(nullptr), std::vector<std::string>{"Lib"});
  const ClassDefinition* lib = library.find("Lib");
  EXPECT_EQ(library.child_names(lib),
            (std::vector<std::string>{"Sub", "Part", "Inside", "Broken"}));
  EXPECT_EQ(library.files_read(), 1U);
}

TEST_F(LibraryTest, TakesTheHighestVersionOfAFolder) {
  write("Lib 4.0.0/package.mo", "package Lib constant Integer v = 4; end Lib;");
  write("Lib 4.0.10/package.mo", "package Lib constant Integer v = 10; end Lib;");
  write("Lib 4.0.9/package.mo", "package Lib constant Integer v = 9; end Lib;");
  write("Lib 4.0.11-beta.1/package.mo", "package Lib constant Integer v = 11; end Lib;");
  EXPECT_EQ(*find_package(root_, "Lib"), root_ / "Lib 4.0.11-beta.1");
  fs::remove_all(root_ / "Lib 4.0.11-beta.1");
  write("Lib 4.0.10-beta/package.mo", "package Lib constant Integer v = -10; end Lib;");
  Library library;
  library.add_folder(root_);
  EXPECT_EQ(
      library.get("Lib").find_component("v")->modification->value->as<IntegerLiteral>()->value, 10);
  write("Lib/package.mo", "package Lib end Lib;");
  EXPECT_EQ(*find_package(root_, "Lib"), root_ / "Lib");
}

TEST_F(LibraryTest, ReadsSingleFilesOfTheFolder) {
  write("One.mo", "package One model A end A; end One;");
  Library library;
  library.add_folder(root_);
  EXPECT_NE(library.find("One.A"), nullptr);
}

TEST_F(LibraryTest, AcceptsThePackageItselfAsFolder) {
  write_package("Lib 1.0");
  Library library;
  library.add_folder(root_ / "Lib 1.0" / "");
  EXPECT_NE(library.find("Lib.Sub.Deep"), nullptr);
}

TEST_F(LibraryTest, FollowsModelicaPath) {
  write_package();
  const char* const before = std::getenv("MODELICAPATH");
  const std::string saved = before == nullptr ? "" : before;
  setenv("MODELICAPATH", ("/nonexistent:" + root_.string()).c_str(), 1);
  Library library;
  library.add_modelica_path();
  EXPECT_NE(library.find("Lib.Part"), nullptr);
  setenv("MODELICAPATH", saved.c_str(), 1);
}

TEST_F(LibraryTest, LoadsFilesAtTheTopLevelAndIntoPackages) {
  const fs::path file = write("models.mo", "package P end P; model M end M;");
  Library library;
  const auto classes = library.load_file(file);
  ASSERT_EQ(classes.size(), 2U);
  EXPECT_EQ(classes[1]->name, "M");
  const auto added = library.load_text("within P; model N end N;", "text");
  EXPECT_EQ(library.find("P.N"), added.at(0));
  EXPECT_EQ(added.at(0)->qualified_name(), "P.N");
}

TEST_F(LibraryTest, LoadsAMemberOfAFolderWithItsPackage) {
  write_package();
  {
    Library library;
    const auto classes = library.load_file(root_ / "Lib/Sub/Deep.mo");
    ASSERT_EQ(classes.size(), 1U);
    EXPECT_EQ(classes[0]->qualified_name(), "Lib.Sub.Deep");
    EXPECT_NE(library.find("Lib.Part"), nullptr);
  }
  {
    Library library;
    EXPECT_EQ(library.load_file(root_ / "Lib/Sub/package.mo").at(0)->qualified_name(), "Lib.Sub");
  }
  Library library;
  EXPECT_EQ(library.load_file(root_ / "Lib/package.mo").at(0)->qualified_name(), "Lib");
  EXPECT_NE(library.find("Lib.Sub.Deep"), nullptr);
}

TEST_F(LibraryTest, FilesGivenComeBeforeFolders) {
  write("M.mo", "model M end M;");
  Library library;
  library.add_folder(root_);
  const auto own = library.load_text("model M Real x; end M;", "text");
  EXPECT_EQ(library.find("M"), own.at(0));
}

TEST_F(LibraryTest, SuggestsTheNearestName) {
  write_package();
  Library library;
  library.add_folder(root_);
  EXPECT_EQ(
      message_of([&] {
        library.get("Lib.Sub.Depe", {"f.mo", 3, 4});
      }),
      "f.mo:3:4: error: there is no class 'Depe' in package 'Lib.Sub' (did you mean 'Deep'?)");
  const std::string top = message_of([&] { library.get("Libb.Sub"); });
  EXPECT_TRUE(contains(top, "there is no class 'Libb' (did you mean 'Lib'?)")) << top;
  EXPECT_TRUE(contains(top, root_.string())) << top;
}

TEST_F(LibraryTest, ReportsAllErrorsOfAFileThatIsNeeded) {
  write_package();
  Library library;
  library.add_folder(root_);
  EXPECT_NE(library.find("Lib.Part"), nullptr);
  const std::string message = message_of([&] { library.find("Lib.Broken"); });
  EXPECT_TRUE(contains(message, "Broken.mo:1:30: error: expected a name")) << message;
}

TEST_F(LibraryTest, ChecksThatFilesSitWhereTheySay) {
  write("Lib/package.mo", "package Lib end Lib;");
  write("Lib/A.mo", "within Lib; model B end B;");
  write("Lib/C.mo", "within Other; model C end C;");
  write("Lib/D.mo", "within Lib; model D end D; model E end E;");
  Library library;
  library.add_folder(root_);
  EXPECT_TRUE(
      contains(message_of([&] { library.find("Lib.A"); }), "named after 'A' but holds model 'B'"));
  EXPECT_TRUE(contains(message_of([&] { library.find("Lib.C"); }), "expected 'within Lib;'"));
  EXPECT_TRUE(contains(message_of([&] { library.find("Lib.D"); }), "this holds 2"));
}

TEST_F(LibraryTest, RefusesDoubleClassesAndMissingFiles) {
  Library library;
  library.load_text("model M end M;", "first");
  EXPECT_TRUE(contains(message_of([&] { library.load_text("model M end M;", "second"); }),
                       "second:1:7: error: 'M' is defined already, in first:1"));
  EXPECT_TRUE(contains(message_of([&] { library.load_text("within Q; model N end N;", "t"); }),
                       "t:1:8: error: there is no class 'Q'"));
  EXPECT_TRUE(contains(message_of([&] { library.load_file(root_ / "none.mo"); }), "cannot read"));
  EXPECT_TRUE(contains(message_of([&] { library.load_file(root_); }), "is a folder"));
  EXPECT_TRUE(contains(message_of([&] { library.add_folder(root_ / "none"); }), "does not exist"));
}

// Every file of the standard library, if it is there.
TEST(Msl, ParsesWithoutError) {
  std::vector<fs::path> folders;
  for (const char* variable : {"SALTUS_MSL", "MODELICAPATH"}) {
    const char* const value = std::getenv(variable);
    if (value == nullptr) continue;
    std::stringstream list(value);
    for (std::string folder; std::getline(list, folder, ':');) {
      if (find_package(folder, "Modelica")) folders.emplace_back(folder);
    }
  }
  if (folders.empty()) {
    GTEST_SKIP() << "no Modelica Standard Library: set SALTUS_MSL to the folder that contains it";
  }
  for (const fs::path& folder : folders) {
    int files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.path().extension() != ".mo") continue;
      ++files;
      const ParseResult result =
          parse_modelica(read_text_file(entry.path()), entry.path().string());
      if (!result.ok()) ADD_FAILURE() << to_error(result.errors).what();
    }
    EXPECT_GT(files, 1000) << folder;
    Library library;
    library.add_folder(folder);
    EXPECT_NE(library.find("Modelica.Mechanics.Rotational.Examples.CoupledClutches"), nullptr);
    EXPECT_LE(library.files_read(), 5U);
  }
}

}  // namespace
}  // namespace saltus
