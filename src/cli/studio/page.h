#pragma once

namespace saltus {

// The page of `saltus studio` (cli/studio/page.html), embedded when the program is built.
extern const char* const kStudioPage;

}  // namespace saltus
