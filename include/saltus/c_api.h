/* Saltus for programs in C and for languages that call C: load a Modelica model, set parameters,
 * simulate it, read the results.
 *
 *   saltus_model* model = saltus_load("ball.mo", NULL, 0);
 *   saltus_set(model, "e", 0.8);
 *   saltus_result* result = saltus_simulate(model, NULL);
 *   printf("h = %g\n", saltus_result_final(result, "h"));
 *   saltus_free_result(result);
 *   saltus_free_model(model);
 *
 * Functions that can fail return NULL or a nonzero number; saltus_error() then says why, with file
 * and line where text is to blame. Texts that are returned belong to the object they came from and
 * live as long as it does. Objects may be used by one thread at a time; different objects are
 * independent. Times are in seconds, other numbers in the unit that the model gives. */
#ifndef SALTUS_C_API_H
#define SALTUS_C_API_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct saltus_model saltus_model;
typedef struct saltus_result saltus_result;

/* "0.2.0" */
const char* saltus_version(void);

/* Why the last call in this thread failed; an empty text if it did not. */
const char* saltus_error(void);

/* MODEL is FILE.mo, FILE.mo:Class or Qualified.Class; `libraries` are folders that contain
 * packages, searched before those of the environment variable MODELICAPATH. NULL if there is no
 * such model or its text is wrong. */
saltus_model* saltus_load(const char* model, const char* const* libraries, size_t library_count);

/* The same from text; `class_name` NULL: the last class of the text. */
saltus_model* saltus_load_text(const char* text, const char* class_name,
                               const char* const* libraries, size_t library_count);

/* Gives a parameter or a start value another value, for this and all later runs. The model is
 * translated again, so any parameter may be set, also one that decides about the structure.
 * Nonzero: nothing was changed. */
int saltus_set(saltus_model* model, const char* name, double value);

const char* saltus_model_name(const saltus_model* model);
void saltus_free_model(saltus_model* model);

/* What a run may be told. Begin with saltus_default_options(); a number that is NaN and a text that
 * is NULL leave the choice to the model or to Saltus. */
typedef struct saltus_options {
  double start_time;       /* s */
  double stop_time;        /* s */
  double tolerance;        /* relative */
  double interval;         /* of stored points, s; 0: every step */
  double max_step;         /* s */
  double max_seconds;      /* wall time after which the run ends early */
  const char* method;      /* "radau", "bdf", "half-explicit", "derivative-array" */
  const char* formulation; /* "reduced", "position", ... */
  const char* chattering;  /* "filippov", "hysteresis", "stop" */
  int (*keep_going)(double time,
                    void* user); /* called after every step; 0 ends the run; may be NULL */
  void* user;
} saltus_options;

void saltus_default_options(saltus_options* options);

/* NULL: the input is wrong and nothing was integrated. What happens later is in the result. */
saltus_result* saltus_simulate(saltus_model* model, const saltus_options* options);

/* 1 if the run reached its stop time or the model ended it, 0 if it stopped early. Either way the
 * result holds all points up to there, and a sentence that says what happened. */
int saltus_result_completed(const saltus_result* result);
const char* saltus_result_message(const saltus_result* result);
double saltus_result_end(const saltus_result* result); /* the time reached */

/* Stored points. At an event two points have the same time: just before and just after it. */
size_t saltus_result_points(const saltus_result* result);
const double* saltus_result_time(const saltus_result* result);
size_t saltus_result_signals(const saltus_result* result);
const char* saltus_result_name(const saltus_result* result, size_t signal);
const char* saltus_result_unit(const saltus_result* result, size_t signal);
/* Its number by name; -1: there is none, and saltus_error() names the nearest. */
long saltus_result_find(const saltus_result* result, const char* name);
/* Copies all values of a signal, as many as there are points; NaN where it does not exist. Nonzero:
 * no such signal. */
int saltus_result_values(const saltus_result* result, size_t signal, double* values);
/* The value of a variable or parameter at the end; NaN: there is none of that name, or it does not
 * exist there. */
double saltus_result_final(const saltus_result* result, const char* name);

typedef struct saltus_event {
  double time;
  const char* kind; /* "switch", "jump", "time", ... as in the JSON summary */
  const char* from; /* modes */
  const char* to;
} saltus_event;

size_t saltus_result_events(const saltus_result* result);
/* Nonzero: there is no such event. */
int saltus_result_event(const saltus_result* result, size_t index, saltus_event* event);

/* The summary of the run as JSON text. */
const char* saltus_result_json(const saltus_result* result);
/* Writes the points (.csv, .mat), the summary (.json) or the report (.html), by the ending of the
 * name. */
int saltus_result_write(const saltus_result* result, const char* path);
void saltus_free_result(saltus_result* result);

#ifdef __cplusplus
}
#endif

#endif
