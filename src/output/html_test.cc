#include "output/html.h"

#include <gtest/gtest.h>

namespace saltus {
namespace {

TEST(EscapeHtml, LeavesNoMarkup) {
  EXPECT_EQ(escape_html("a<b & \"c\" > d"), "a&lt;b &amp; &quot;c&quot; &gt; d");
}

}  // namespace
}  // namespace saltus
