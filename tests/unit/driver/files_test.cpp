// Files are written whole or not at all.
#include "driver/files.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workplace.h"

namespace tang {
namespace {

using testing::HasSubstr;
using Files = Workplace;

std::string failure(const std::vector<OutputFile>& files) {
  try {
    write_files(files);
  } catch (const CommandError& error) {
    EXPECT_EQ(error.status, kUsage);
    return error.what();
  }
  return "";
}

TEST_F(Files, AllAreWritten) {
  write_files({{path("a"), "one"}, {path("b"), std::string("t\0o", 3)}});
  EXPECT_EQ(read("a"), "one");
  EXPECT_EQ(read("b"), std::string("t\0o", 3));
  EXPECT_EQ(n_files(), 2u);
}

TEST_F(Files, AMissingFolderLeavesNothing) {
  EXPECT_THAT(failure({{path("a"), "one"}, {path("none/b"), "two"}}),
              HasSubstr("none/b: No such file or directory"));
  EXPECT_EQ(n_files(), 0u);
}

TEST_F(Files, AFailureKeepsWhatStoodThere) {
  write("a", "old");
  std::filesystem::create_directory(path("b"));
  EXPECT_THAT(failure({{path("a"), "new"}, {path("b"), "new"}}), HasSubstr("it is a folder"));
  EXPECT_EQ(read("a"), "old");
  EXPECT_EQ(n_files(), 2u);
}

TEST_F(Files, ModesAndLinksStay) {
  write("real", "old");
  ::chmod(path("real").c_str(), 0640);
  std::filesystem::create_symlink(path("real"), path("link"));
  write_files({{path("link"), "new"}});
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(read("real"), "new");
  struct stat info = {};
  ::stat(path("real").c_str(), &info);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST_F(Files, DevicesAreWrittenDirectly) {
  write_files({{"/dev/null", "gone"}});
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(Files, ReadingWhatIsNotThere) {
  try {
    read_file(path("none"));
    FAIL();
  } catch (const CommandError& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot read"));
    EXPECT_THAT(error.what(), HasSubstr("No such file or directory"));
  }
  EXPECT_THROW(read_file(path(".")), CommandError);
}

TEST(TemporaryFolder, GoesWithAllThatIsInIt) {
  std::string kept;
  {
    const TemporaryFolder folder;
    kept = folder.path();
    write_files({{kept + "/x", "y"}});
    EXPECT_TRUE(std::filesystem::is_directory(kept));
  }
  EXPECT_FALSE(std::filesystem::exists(kept));
}

}  // namespace
}  // namespace tang
