#include "base/run_apart.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

#include "base/error.h"

namespace saltus {
namespace {

std::string error_of(const std::function<void(Bytes&)>& work) {
  try {
    run_apart("d.mat", work);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(RunApart, GivesWhatWasWritten) {
  const std::vector<double> many(100'000, 0.5);
  Bytes result = run_apart("d.mat", [&](Bytes& to) {
    to.put(7);
    to.put(std::string("a\0b", 3));
    to.put(many);
  });
  EXPECT_EQ(result.count(), 7U);
  EXPECT_EQ(result.text(), std::string("a\0b", 3));
  EXPECT_EQ(result.numbers(), many);
  EXPECT_THROW(result.count(), Error);
}

TEST(RunApart, ErrorsKeepTheirPlace) {
  EXPECT_EQ(error_of([](Bytes&) {
              throw Error("too short", {"d.csv", 3, 1});
            }),
            "d.csv:3:1: error: too short");
}

TEST(RunApart, WhateverHappensThereIsAnError) {
  EXPECT_EQ(error_of([](Bytes&) { std::raise(SIGSEGV); }), "d.mat: the file is damaged");
  EXPECT_EQ(error_of([](Bytes&) { std::abort(); }), "d.mat: the file is damaged");
  EXPECT_EQ(error_of([](Bytes&) { std::exit(0); }), "d.mat: the file is damaged");
  EXPECT_EQ(error_of([](Bytes&) { throw std::bad_alloc(); }), "d.mat: the file is damaged");
}

}  // namespace
}  // namespace saltus
