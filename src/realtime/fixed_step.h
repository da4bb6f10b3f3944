/* The fixed-step engine: what happens in one sample, in C99, so that the same text runs inside of
   Saltus and on a user's own target (`saltus realtime --export`). It takes a prepared model as
   tables and formulas and works in memory that it is given: no heap, no system calls, no recursion,
   bounded loops. realtime_engine.h is the C++ side, which prepares the tables.

   An event is a relation that has changed at the end of a step. It is located by halving, the
   instant settled by rounds as offline (relations, discrete equations, mode, point; then pre), and
   the rest of the sample taken from there, so that samples stay on their grid. */
#ifndef SALTUS_FIXED_STEP_H
#define SALTUS_FIXED_STEP_H

#include <stddef.h>

/* What comes before the functions: `static` where the text is part of a larger file. */
#ifndef FS_API
#define FS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A step of T is 2^FS_LEVELS ticks; partial steps are whole numbers of ticks. */
#define FS_LEVELS 32
#define FS_SPARES 4
#define FS_MOST_IMPACTS 64 /* in one sample, beyond max_events */
#define FS_NONE ((size_t)-1)

/* What a step had to do, or could not; several may apply. */
enum {
  FS_EVENT_TAKEN = 1,
  FS_MODE_UNPREPARED = 2,  /* a mode was asked for that is not there; the present one is held */
  FS_NOT_SETTLED = 4,      /* rounds are left for the next sample */
  FS_STATE_NOT_FINITE = 8, /* the state before the step is held */
  FS_EVENTS_LEFT = 16,     /* more than max_events; the rest is left to the next sample */
  FS_RESET_LOST = 32,      /* reinit, and what follows in the mode is not prepared */
  FS_STATE_JUMPED = 64,    /* a mode was entered that an impulse would have to lead into */
  FS_TERMINATED = 128,     /* terminate() of the model */
  FS_INPUT_REFUSED = 256,  /* an input was not finite, or no value of its type; its last is held */
  FS_STEP_ROUGH = 512      /* too long for what is not linear in it, in all the parts it may have */
};

/* Where an event lies in a sample: found by partial steps; on the line between the ends of the step
   (RE 2.2.4); at the end of the sample (OT). */
enum { FS_ADJUST_EXACT = 0, FS_ADJUST_DELTA = 1, FS_ADJUST_NONE = 2 };

/* Formulas; `in` are groups of values. Of a mode: time, x, x', parameters, held. Of the model:
   time, values of variables, slopes, parameters, slots. */
typedef struct {
  void (*evaluate)(const void* self, const double* const* in, double* out);
  const void* self;
} fs_formulas;

/* A number of the system. */
enum { FS_VALUE = 0, FS_SLOPE = 1, FS_SLOT = 2, FS_ZERO = 3 };
typedef struct {
  int kind;
  size_t index; /* of the variable or slot */
} fs_place;

/* The numbers of an affine mode for one set of held values that its matrix reads. Matrices are by
   columns; first and second are those of steps of T / 2^k, k from 0 to FS_LEVELS. */
typedef struct {
  const double* key;
  const double* inverse;  /* n x n, of K = [E_z | G_y] */
  const double* reaction; /* n x d, -K^-1 G_z: slopes of z, then the others, by z */
  const double* a;        /* d x d, its first rows: z' = a z + b */
  const double* first;    /* h phi1(a h) by level */
  const double* second;   /* h phi2(a h) by level */
} fs_configuration;

typedef struct {
  size_t row;
  size_t column;
  int is_slope; /* dF/dx', else dF/dx */
} fs_entry;

/* An order of pivots for a matrix of n rows in which most entries stay zero, chosen from numbers
   when the mode was prepared. By pivot k: lower[k], below it, to lower[k + 1] - 1 are the places of
   rows that may be other than zero in its column, upper likewise those of columns in its row. */
typedef struct {
  const size_t* row_place; /* NULL: no order; exchange rows as numbers want it */
  const size_t* column_place;
  const size_t* lower_start;
  const size_t* lower;
  const size_t* upper_start;
  const size_t* upper;
} fs_order;

typedef struct {
  double* m;
  size_t* pivots;
  const fs_order* order; /* NULL: rows were exchanged as numbers wanted it */
} fs_factors;

typedef struct {
  size_t place; /* in the core; FS_NONE: no state */
  double sign;
} fs_reset;

/* How the states of a mode follow from what was before, by the impulse rule of the offline engine:
   z += map (x- - x), where x are the variables that the mode differentiates, at the point that the
   states alone give, and x- their left limits or, where reinit sets them, its values. */
typedef struct {
  const unsigned char* asked; /* by variable that is set: it does */
  const double* map;          /* d x carried_count */
  int is_rigid;               /* impulses reach no relation */
} fs_handover;

/* A mode reduced to its core F(t, x, x') = 0: n unknowns, d of them differential, the states. */
typedef struct {
  size_t n;
  size_t d;
  const size_t* differential;
  const size_t* algebraic;
  const double* nominal;
  const fs_place* guess; /* by unknown */
  int is_affine;         /* the Jacobian is constant while held values are */
  int reads_time;
  size_t held_count;
  const fs_place* held;
  size_t moving_count; /* of these, the first that the equations read */
  size_t key_count;
  const size_t* key; /* which held values the matrix reads */
  fs_formulas residual;
  fs_formulas jacobian;
  size_t entry_count;
  const fs_entry* entries;    /* of the Jacobian */
  const size_t* slope_column; /* by unknown: its column in K = [E_z | G_y] */
  fs_order step_order;        /* of E / h + G; not for affine modes */
  fs_order slope_order;       /* of K */
  fs_formulas relations;      /* all of the model */
  fs_formulas outputs;
  fs_formulas variables;
  size_t target_count;
  const fs_place* targets; /* by value of `variables` */
  const fs_reset* resets;  /* by variable that is set */
  size_t carried_count;
  const size_t* carried;       /* variables that are differentiated */
  const size_t* carried_reset; /* by these: the variable that reinit sets, or FS_NONE */
  size_t handover_count;
  const fs_handover* handovers;
  size_t guard_count;
  const size_t* guards; /* relations that are watched */
  /* Those that have a value on the way of an impulse into the mode, because they read nothing but
     what is carried, and those that do not. */
  size_t path_count;
  const size_t* path;
  size_t open_count;
  const size_t* open;
  size_t configuration_count;
  const fs_configuration* configurations;
} fs_mode;

typedef struct {
  size_t slot;
  int is_strict;     /* value > 0, else value >= 0 */
  int is_continuous; /* it may cross zero between events */
  int is_impact;     /* a reinit hangs on it: never postponed (RE 4.5) */
} fs_relation;

/* Relations and discrete equations that read nothing of each other. */
typedef struct {
  size_t count;
  const size_t* items;  /* relations, then number of relations + discrete equation */
  fs_formulas formulas; /* values by item, then sizes as below */
} fs_level;

typedef struct {
  size_t slot;
  size_t pre;
} fs_discrete;

/* What a state machine hands over to a state that it enters. */
typedef struct {
  fs_place place; /* of a variable or slot */
  size_t pre;     /* of a slot */
  size_t reset;   /* of a variable that is set by anything: in fs_mode.resets; or FS_NONE */
  int is_set;     /* kept exactly, else the impulse rule applies */
} fs_entrance;

typedef struct {
  size_t slot; /* true at the instants */
  size_t next; /* slot: the next instant */
  double interval;
} fs_sample;

typedef struct {
  size_t slot;
  size_t pre;
  int is_discrete; /* a whole number from least to most, whose change is an event */
  double least;
  double most;
} fs_input;

typedef struct {
  double start_time;
  double step;
  int adjustment;
  int propagates; /* one round a sample (OT), else until all agrees */
  int max_events; /* in one sample */
  size_t parameter_count;
  const double* parameters;
  size_t variable_count;
  size_t slot_count;
  size_t output_count;
  size_t relation_count;
  const fs_relation* relations;
  fs_formulas sizes; /* of relations: the sum of their absolute terms */
  size_t level_count;
  const fs_level* levels;
  const size_t* equation_slots; /* by discrete equation */
  size_t discrete_count;
  const fs_discrete* discretes;
  size_t reinit_count;
  fs_formulas reinits;       /* conditions, then values */
  const size_t* reset_place; /* by reinit: in fs_mode.resets */
  size_t reset_count;        /* variables that are set, by reinit or on entry of a state */
  const size_t* reset_variables;
  size_t machine_count;
  const size_t* machines; /* slots: the machine takes a transition */
  size_t entrance_count;
  const fs_entrance* entrances;
  fs_formulas entrance_values; /* conditions, then values */
  size_t left_count;           /* values just before an instant: pre() of unknowns */
  fs_formulas lefts;
  const size_t* left_slots;
  size_t termination_count;
  fs_formulas terminations;
  size_t sample_count;
  const fs_sample* samples;
  size_t input_count;
  const fs_input* inputs;
  /* Modes, null where one cannot be prepared, and the table that finds one: a row of values of
     conditions each (NAN: any) and its mode. The formulas read parameters and slots. */
  size_t mode_count;
  const fs_mode* const* modes;
  size_t condition_count;
  fs_formulas conditions;
  size_t row_count;
  const double* rows;
  const size_t* row_modes;
  size_t start_mode;
  const double* start_values;
  const double* start_slopes;
  const double* start_slots;
  /* The largest of all modes: n, d, held values, entries, targets; and of a level. */
  size_t most_n;
  size_t most_d;
  size_t most_held;
  size_t most_entries;
  size_t most_targets;
  size_t most_carried;
  size_t most_items;
} fs_model;

/* For a preparation that makes modes as they are met; all null in the run. */
typedef struct {
  void* owner;
  size_t (*find_mode)(void* owner, double t); /* of engine->slots, or FS_NONE */
  void (*keep)(void* owner, size_t mode, const fs_configuration* made);
  /* Makes the handover to the present mode for engine->asked, if it can. */
  void (*make_handover)(void* owner, double t);
  void (*on_event)(void* owner, double t, size_t from, size_t to, int rounds);
} fs_hooks;

/* Memory the engine works in; counts by fs_count_*. */
typedef struct {
  double* numbers;
  unsigned char* flags;
  size_t* indices;
} fs_memory;

typedef struct {
  size_t numbers;
  size_t flags;
  size_t indices;
} fs_counts;

/* A configuration that is made while it runs. */
typedef struct {
  size_t mode; /* FS_NONE: empty */
  double* key;
  double* inverse;
  double* reaction;
  double* a;
  double* first;
  double* second;
  fs_configuration made; /* the same, to be read */
} fs_spare;

typedef struct {
  const fs_model* model;
  fs_hooks hooks;
  /* The run. */
  size_t sample;
  size_t mode;
  int is_pending; /* relations are violated, or rounds are left, where the sample begins */
  int is_terminated;
  size_t terminated_by;
  unsigned status;
  size_t jumped; /* the variable of FS_STATE_JUMPED */
  /* The instant at hand. state: the point; base: where a round starts from; left: left limits. */
  int keeps_at_zero;
  int is_as_before; /* the discrete values are those with which the round of pre() began */
  int entered_mode;
  int entered_state; /* a machine has; what its projection passes is not judged yet */
  int crossing_is_past;
  double* values;
  double* slopes;
  double* base_values;
  double* base_slopes;
  double* left_values;
  double* left_slopes;
  double* slots;
  double* entry_slots;
  double* history;
  double* relation_values;
  double* before;
  double* ahead;
  double* sizes;
  double* rest;    /* by relation: how far from zero it may be without having left it */
  double* results; /* of formulas */
  double* conditions;
  double* asked_values;   /* by variable that is set */
  double* entrance_slots; /* where states were entered */
  double* work_slots;
  double* left_relations;
  double* model_relations; /* from the point by variables of the model */
  double* projected;
  unsigned char* at_zero;
  unsigned char* fired;
  unsigned char* located;
  unsigned char* crossed; /* of what fired: its value then */
  unsigned char* armed;   /* has left zero since the last event, on the side its slot says */
  unsigned char* reset_done;
  unsigned char* pending; /* by variable that is set: in the next round */
  unsigned char* asked;   /* the same: in this round */
  unsigned char* violated;
  unsigned char* turned; /* by the way it leaves zero, in this instant */
  /* The point of the present mode, and memory to find it. */
  const fs_configuration* active;
  size_t oldest_spare;
  double* x;
  double* dx;
  double* saved_x;
  double* saved_dx;
  double* zero;
  double* residual;
  double* start_x;
  double* full_x;
  double* r;
  double* z;
  double* b0;
  double* b1;
  double* saved_b0;
  double* work;
  double* held;
  double* entries;
  double* targets;
  double* saved_entries;
  double* permuted;
  double* deviations;
  fs_factors factors;
  fs_factors half_factors;
  double* scratch;
  fs_spare spares[FS_SPARES];
} fs_engine;

/* Memory for what depends on the model, and for what depends on its modes; binding a second time
   forgets what the memory held. */
FS_API fs_counts fs_bind_model(fs_engine* engine, fs_memory memory);
FS_API fs_counts fs_bind_modes(fs_engine* engine, fs_memory memory);

/* The steps of z' = a z + b, a of n rows: first and second of a configuration. `scratch`: room for
   five matrices. */
FS_API void fs_prepare_steps(const double* a, size_t n, double step, double* first, double* second,
                             double* scratch);
/* z := z(T / 2^level), b going from b0 to b1. `work`: room for two vectors. */
FS_API void fs_affine_step(const fs_configuration* c, size_t n, int level, double* z,
                           const double* b0, const double* b1, double* work);

/* Makes `mode` the present one, with the states and all that is held taken from values, slopes and
   slots, and finds the rest. 0 if that has no finite solution. */
FS_API int fs_enter(fs_engine* engine, size_t mode, double t);

/* Back to the start; the same steps give the same numbers, to the last bit. Pre: bound. */
FS_API void fs_restart(fs_engine* engine);
/* One sample with these inputs held over it; null: as they were. Returns status flags. */
FS_API unsigned fs_step(fs_engine* engine, const double* inputs);
FS_API double fs_time(const fs_engine* engine);
FS_API void fs_outputs(fs_engine* engine, double* outputs);

#ifdef __cplusplus
}
#endif

#endif
