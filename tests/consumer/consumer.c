/* A program in C against an installed Saltus: the C API as a user of another language meets it. */
#include <math.h>
#include <saltus/c_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define EXPECT(condition)                                              \
  do {                                                                 \
    if (!(condition)) {                                                \
      printf("line %d: %s (%s)\n", __LINE__, #condition, saltus_error()); \
      ++failures;                                                      \
    }                                                                  \
  } while (0)

static const char* const kBall =
    "model Ball\n"
    "  parameter Real e = 0.7;\n"
    "  Real h(start = 1, fixed = true, unit = \"m\");\n"
    "  Real v(start = 0, fixed = true, unit = \"m/s\");\n"
    "equation\n"
    "  der(h) = v;\n"
    "  der(v) = -9.81;\n"
    "  when h < 0 then\n"
    "    reinit(v, -e*pre(v));\n"
    "  end when;\n"
    "end Ball;\n";

static int stop_at_once(double time, void* user) {
  ++*(int*)user;
  return time < 0.1;
}

static void simulate_ball(const char* folder) {
  saltus_model* model = saltus_load_text(kBall, NULL, NULL, 0);
  EXPECT(model != NULL);
  if (model == NULL) return;
  EXPECT(strcmp(saltus_model_name(model), "Ball") == 0);
  EXPECT(saltus_set(model, "e", 0.5) == 0);
  EXPECT(saltus_set(model, "e2", 0.5) != 0 && strstr(saltus_error(), "e2") != NULL);

  saltus_options options;
  saltus_default_options(&options);
  options.stop_time = 0.6;
  options.tolerance = 1e-9;
  saltus_result* result = saltus_simulate(model, &options);
  EXPECT(result != NULL && saltus_result_completed(result));
  if (result != NULL) {
    /* It falls for t = sqrt(2/g), then rises with half its speed. */
    const double g = 9.81, t = sqrt(2.0 / g), rest = 0.6 - t;
    const double expected = 0.5 * g * t * rest - 0.5 * g * rest * rest;
    EXPECT(fabs(saltus_result_final(result, "h") - expected) < 1e-7);
    EXPECT(saltus_result_final(result, "e") == 0.5);
    EXPECT(isnan(saltus_result_final(result, "nothing")));
    EXPECT(saltus_result_events(result) == 1);
    saltus_event event;
    EXPECT(saltus_result_event(result, 0, &event) == 0 && fabs(event.time - t) < 1e-8);
    EXPECT(strcmp(event.kind, "jump") == 0);
    EXPECT(saltus_result_event(result, 1, &event) != 0);
    const long h = saltus_result_find(result, "h");
    EXPECT(h >= 0 && strcmp(saltus_result_unit(result, (size_t)h), "m") == 0);
    EXPECT(saltus_result_find(result, "hh") == -1);
    const size_t points = saltus_result_points(result);
    double* values = malloc(points * sizeof(double));
    EXPECT(values != NULL && saltus_result_values(result, (size_t)h, values) == 0);
    EXPECT(values[0] == 1.0 && saltus_result_time(result)[points - 1] == 0.6);
    EXPECT(saltus_result_values(result, 1000, values) != 0);
    free(values);
    EXPECT(strstr(saltus_result_json(result), "\"status\": \"completed\"") != NULL);
    char path[4096];
    snprintf(path, sizeof path, "%s/ball.csv", folder);
    EXPECT(saltus_result_write(result, path) == 0);
    EXPECT(saltus_result_write(result, "ball.xls") != 0);
  }
  saltus_free_result(result);

  int calls = 0;
  options.keep_going = stop_at_once;
  options.user = &calls;
  result = saltus_simulate(model, &options);
  EXPECT(result != NULL && !saltus_result_completed(result) && calls > 0);
  EXPECT(result != NULL && saltus_result_end(result) < 0.6);
  saltus_free_result(result);

  options.method = "euler";
  EXPECT(saltus_simulate(model, &options) == NULL && strstr(saltus_error(), "euler") != NULL);
  saltus_free_model(model);
}

int main(int count, char** arguments) {
  EXPECT(strlen(saltus_version()) > 0);
  simulate_ball(count > 1 ? arguments[1] : ".");
  EXPECT(saltus_load_text("model M Real x; equation der(x) = y; end M;", NULL, NULL, 0) == NULL);
  EXPECT(strstr(saltus_error(), "'y'") != NULL);
  EXPECT(saltus_load("nowhere.mo", NULL, 0) == NULL);
  printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
