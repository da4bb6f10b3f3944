#include "realtime/fixed_step.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* At zero, of the size of a relation: what a slip may move in the tick that an event is found to.
 */
static const double kBand = 1e-8;
static const double kNoise = 1e-13;    /* of the size of a relation: rounding */
static const double kMostParts = 16.0; /* of a nonlinear step */
static const double kAllowed = 1e-3;   /* relative difference of its two solutions */

enum {
  kMostRounds = 24,
  kMostUpdates = 32, /* of pre() in one instant */
  kMostTurns = 5,    /* of a relation at zero, in one instant */
  kMostNewton = 8,
  kAheadBits = FS_LEVELS - 12,
  kFarBits = FS_LEVELS - 6
};
enum { kAway = 0, kFired = 1, kWasThere = 2 };
enum { kFailed = 0, kSolved = 1, kUnprepared = 2 }; /* what a round came to */

static const uint64_t kWhole = (uint64_t)1 << FS_LEVELS;

/* ---- Memory ---------------------------------------------------------------------------------- */

static double* take_numbers(fs_memory memory, fs_counts* used, size_t count) {
  double* place = memory.numbers == NULL ? NULL : memory.numbers + used->numbers;
  used->numbers += count;
  return place;
}

static unsigned char* take_flags(fs_memory memory, fs_counts* used, size_t count) {
  unsigned char* place = memory.flags == NULL ? NULL : memory.flags + used->flags;
  used->flags += count;
  return place;
}

static size_t* take_indices(fs_memory memory, fs_counts* used, size_t count) {
  size_t* place = memory.indices == NULL ? NULL : memory.indices + used->indices;
  used->indices += count;
  return place;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

FS_API fs_counts fs_bind_model(fs_engine* e, fs_memory memory) {
  const fs_model* m = e->model;
  const size_t relations = m->relation_count;
  fs_counts used = {0, 0, 0};
  e->values = take_numbers(memory, &used, m->variable_count);
  e->slopes = take_numbers(memory, &used, m->variable_count);
  e->base_values = take_numbers(memory, &used, m->variable_count);
  e->base_slopes = take_numbers(memory, &used, m->variable_count);
  e->left_values = take_numbers(memory, &used, m->variable_count);
  e->left_slopes = take_numbers(memory, &used, m->variable_count);
  e->slots = take_numbers(memory, &used, m->slot_count);
  e->entry_slots = take_numbers(memory, &used, m->slot_count);
  e->history = take_numbers(memory, &used, (size_t)kMostRounds * m->slot_count);
  e->relation_values = take_numbers(memory, &used, relations);
  e->before = take_numbers(memory, &used, relations);
  e->ahead = take_numbers(memory, &used, relations);
  e->sizes = take_numbers(memory, &used, relations);
  e->rest = take_numbers(memory, &used, relations);
  e->results = take_numbers(
      memory, &used,
      larger(larger(2 * m->most_items, 2 * m->reinit_count),
             larger(larger(m->termination_count, m->left_count), 2 * m->entrance_count)));
  e->asked_values = take_numbers(memory, &used, m->reset_count);
  e->entrance_slots = take_numbers(memory, &used, m->slot_count);
  e->work_slots = take_numbers(memory, &used, m->slot_count);
  e->left_relations = take_numbers(memory, &used, relations);
  e->model_relations = take_numbers(memory, &used, relations);
  e->projected = take_numbers(memory, &used, m->variable_count);
  e->at_zero = take_flags(memory, &used, relations);
  e->fired = take_flags(memory, &used, relations);
  e->located = take_flags(memory, &used, relations);
  e->armed = take_flags(memory, &used, relations);
  e->crossed = take_flags(memory, &used, relations);
  e->violated = take_flags(memory, &used, relations);
  e->turned = take_flags(memory, &used, relations);
  e->reset_done = take_flags(memory, &used, m->reinit_count);
  e->pending = take_flags(memory, &used, m->reset_count);
  e->asked = take_flags(memory, &used, m->reset_count);
  return used;
}

FS_API fs_counts fs_bind_modes(fs_engine* e, fs_memory memory) {
  const fs_model* m = e->model;
  const size_t n = m->most_n;
  const size_t d = m->most_d;
  size_t k;
  fs_counts used = {0, 0, 0};
  e->conditions = take_numbers(memory, &used, m->condition_count);
  e->x = take_numbers(memory, &used, n);
  e->dx = take_numbers(memory, &used, n);
  e->saved_x = take_numbers(memory, &used, n);
  e->saved_dx = take_numbers(memory, &used, n);
  e->zero = take_numbers(memory, &used, n);
  e->residual = take_numbers(memory, &used, n);
  e->start_x = take_numbers(memory, &used, n);
  e->full_x = take_numbers(memory, &used, n);
  e->r = take_numbers(memory, &used, n);
  e->z = take_numbers(memory, &used, n);
  e->b0 = take_numbers(memory, &used, n);
  e->b1 = take_numbers(memory, &used, n);
  e->saved_b0 = take_numbers(memory, &used, n);
  e->work = take_numbers(memory, &used, 4 * n);
  e->held = take_numbers(memory, &used, m->most_held);
  e->entries = take_numbers(memory, &used, m->most_entries);
  e->targets = take_numbers(memory, &used, m->most_targets);
  e->saved_entries = take_numbers(memory, &used, m->most_entries);
  e->permuted = take_numbers(memory, &used, n);
  e->deviations = take_numbers(memory, &used, m->most_carried);
  e->factors.m = take_numbers(memory, &used, n * n);
  e->half_factors.m = take_numbers(memory, &used, n * n);
  e->scratch = take_numbers(memory, &used, 5 * d * d);
  e->factors.pivots = take_indices(memory, &used, n);
  e->half_factors.pivots = take_indices(memory, &used, n);
  for (k = 0; k < FS_SPARES; ++k) {
    fs_spare* s = &e->spares[k];
    s->mode = FS_NONE;
    s->key = take_numbers(memory, &used, m->most_held);
    s->inverse = take_numbers(memory, &used, n * n);
    s->reaction = take_numbers(memory, &used, n * d);
    s->a = take_numbers(memory, &used, d * d);
    s->first = take_numbers(memory, &used, (FS_LEVELS + 1) * d * d);
    s->second = take_numbers(memory, &used, (FS_LEVELS + 1) * d * d);
    s->made.key = s->key;
    s->made.inverse = s->inverse;
    s->made.reaction = s->reaction;
    s->made.a = s->a;
    s->made.first = s->first;
    s->made.second = s->second;
  }
  e->oldest_spare = 0;
  e->active = NULL;
  if (memory.numbers != NULL)
    for (k = 0; k < n; ++k) e->zero[k] = 0.0;
  return used;
}

/* ---- Small dense matrices, by columns: entry (i, j) of n rows is m[j * n + i] ------------------
 */

static void copy(double* to, const double* from, size_t count) {
  if (count > 0) memcpy(to, from, count * sizeof(double));
}

static void clear_flags(unsigned char* flags, size_t count) {
  if (count > 0) memset(flags, 0, count);
}

/* out += m v for an n x k matrix. Sums by columns, so that it vectorizes without reordering. */
static void multiply_add(const double* m, const double* v, size_t n, size_t k,
                         double* restrict out) {
  size_t i, j;
  for (j = 0; j < k; ++j) {
    const double f = v[j];
    const double* column = m + j * n;
    for (i = 0; i < n; ++i) out[i] += column[i] * f;
  }
}

static void multiply(const double* m, const double* v, size_t n, size_t k, double* restrict out) {
  size_t i;
  for (i = 0; i < n; ++i) out[i] = 0.0;
  multiply_add(m, v, n, k, out);
}

static void product(const double* a, const double* b, size_t n, double* out) {
  size_t j;
  for (j = 0; j < n; ++j) multiply(a, b + j * n, n, n, out + j * n);
}

/* LU with partial pivoting in place. 0 if a pivot is not finite or below `least` times the largest
   entry of the matrix. */
static int factor(double* m, size_t n, size_t* pivots, double least) {
  double largest = 0.0;
  size_t i, j, k;
  for (i = 0; i < n * n; ++i) largest = fmax(largest, fabs(m[i]));
  for (k = 0; k < n; ++k) {
    size_t p = k;
    double pivot;
    for (i = k + 1; i < n; ++i)
      if (fabs(m[k * n + i]) > fabs(m[k * n + p])) p = i;
    pivots[k] = p;
    pivot = m[k * n + p];
    if (!(fabs(pivot) > least * largest) || !isfinite(pivot)) return 0;
    if (p != k)
      for (j = 0; j < n; ++j) {
        const double swapped = m[j * n + k];
        m[j * n + k] = m[j * n + p];
        m[j * n + p] = swapped;
      }
    for (i = k + 1; i < n; ++i) m[k * n + i] /= pivot;
    for (j = k + 1; j < n; ++j) {
      const double f = m[j * n + k];
      double* restrict target = m + j * n;
      const double* restrict column = m + k * n;
      if (f == 0.0) continue;
      for (i = k + 1; i < n; ++i) target[i] -= column[i] * f;
    }
  }
  return 1;
}

static void solve(const double* lu, const size_t* pivots, size_t n, double* v) {
  size_t i, k;
  for (k = 0; k < n; ++k) { /* all exchanges first: the factors were exchanged too */
    const double swapped = v[k];
    v[k] = v[pivots[k]];
    v[pivots[k]] = swapped;
  }
  for (k = 0; k < n; ++k)
    for (i = k + 1; i < n; ++i) v[i] -= lu[k * n + i] * v[k];
  for (k = n; k-- > 0;) {
    v[k] /= lu[k * n + k];
    for (i = 0; i < k; ++i) v[i] -= lu[k * n + i] * v[k];
  }
}

/* The same in a given order, without exchanges. 0 if a pivot is small beside what it eliminates. */
static int factor_in_order(double* m, size_t n, const fs_order* o) {
  size_t k, a, b;
  for (k = 0; k < n; ++k) {
    double* restrict column = m + k * n;
    const double pivot = column[k];
    double largest = 0.0;
    for (a = o->lower_start[k]; a < o->lower_start[k + 1]; ++a)
      largest = fmax(largest, fabs(column[o->lower[a]]));
    if (!(fabs(pivot) > 1e-4 * largest) || !isfinite(pivot) || !isfinite(largest)) return 0;
    for (a = o->lower_start[k]; a < o->lower_start[k + 1]; ++a) column[o->lower[a]] /= pivot;
    for (b = o->upper_start[k]; b < o->upper_start[k + 1]; ++b) {
      double* restrict target = m + o->upper[b] * n;
      const double f = target[k];
      for (a = o->lower_start[k]; a < o->lower_start[k + 1]; ++a)
        target[o->lower[a]] -= column[o->lower[a]] * f;
    }
  }
  return 1;
}

static void solve_in_order(const double* m, size_t n, const fs_order* o, double* v, double* work) {
  size_t k, a, i;
  for (i = 0; i < n; ++i) work[o->row_place[i]] = v[i];
  for (k = 0; k < n; ++k)
    for (a = o->lower_start[k]; a < o->lower_start[k + 1]; ++a)
      work[o->lower[a]] -= m[k * n + o->lower[a]] * work[k];
  for (k = n; k-- > 0;) {
    for (a = o->upper_start[k]; a < o->upper_start[k + 1]; ++a)
      work[k] -= m[o->upper[a] * n + k] * work[o->upper[a]];
    work[k] /= m[k * n + k];
  }
  for (i = 0; i < n; ++i) v[i] = work[o->column_place[i]];
}

/* ---- Exact steps of z' = a z + b with b affine over the step -----------------------------------
     z(h) = z + h phi1(a h) (a z + b0) + h phi2(a h) (b1 - b0),
   of the lengths T / 2^k, so that a partial step of any number of ticks is a composition of them
   (RE (13), where RE takes a line instead because Phi(eta T) would be too dear). */

/* Horner: sum of z^k / (k + shift)! for shift 1 (phi1); with one factor less phi2. */
static void phi_series(const double* z, size_t n, int shift, double* sum, double* work) {
  size_t i;
  int k;
  for (i = 0; i < n * n; ++i) sum[i] = 0.0;
  for (k = 9; k >= 0; --k) {
    const double f = 1.0 / (k + shift);
    product(z, sum, n, work);
    for (i = 0; i < n * n; ++i) sum[i] = f * work[i];
    for (i = 0; i < n; ++i) sum[i * n + i] += f;
  }
}

/* From a step so short that a series of a few terms is exact, upwards by doubling:
     e^2z - 1 = 2 d + d^2 with d = e^z - 1 = z phi1,
     phi1(2z) = phi1 + d phi1 / 2,   phi2(2z) = (2 phi2 + phi1 + d phi2) / 4.
   It is d that is carried, not e^z, so that nothing is lost next to one. */
FS_API void fs_prepare_steps(const double* a, size_t n, double step, double* first, double* second,
                             double* scratch) {
  const size_t size = n * n;
  double* z = scratch;
  double* p1 = z + size;
  double* p2 = p1 + size;
  double* d = p2 + size;
  double* work = d + size;
  double norm = 0.0;
  double h;
  int level = FS_LEVELS;
  size_t i, j;
  for (j = 0; j < n; ++j) {
    double sum = 0.0;
    for (i = 0; i < n; ++i) sum += fabs(a[j * n + i]);
    norm = fmax(norm, sum);
  }
  while (level < 400 && ldexp(norm * step, -level) > 0.05) ++level;
  h = ldexp(step, -level);
  for (i = 0; i < size; ++i) z[i] = h * a[i];
  phi_series(z, n, 1, p1, work);
  phi_series(z, n, 2, p2, work);
  for (;;) {
    if (level <= FS_LEVELS)
      for (i = 0; i < size; ++i) {
        first[(size_t)level * size + i] = h * p1[i];
        second[(size_t)level * size + i] = h * p2[i];
      }
    if (level == 0) break;
    for (i = 0; i < size; ++i) z[i] = h * a[i];
    product(z, p1, n, d);
    product(d, p2, n, work);
    for (i = 0; i < size; ++i) p2[i] = 0.25 * (2.0 * p2[i] + p1[i] + work[i]);
    product(d, p1, n, work);
    for (i = 0; i < size; ++i) p1[i] += 0.5 * work[i];
    h *= 2.0;
    --level;
  }
}

FS_API void fs_affine_step(const fs_configuration* c, size_t n, int level, double* z,
                           const double* b0, const double* b1, double* work) {
  const size_t offset = (size_t)level * n * n;
  double* slope = work;
  double* change = work + n;
  size_t i;
  for (i = 0; i < n; ++i) slope[i] = b0[i];
  for (i = 0; i < n; ++i) change[i] = b1[i] - b0[i];
  multiply_add(c->a, z, n, n, slope);
  multiply_add(c->first + offset, slope, n, n, z);
  multiply_add(c->second + offset, change, n, n, z);
}

/* ---- A mode -----------------------------------------------------------------------------------
 */

static const fs_mode* present(const fs_engine* e) { return e->model->modes[e->mode]; }

static void evaluate_in_mode(const fs_engine* e, const fs_formulas* formulas, double t,
                             const double* x, const double* dx, double* out) {
  const double* in[5];
  in[0] = &t;
  in[1] = x;
  in[2] = dx;
  in[3] = e->model->parameters;
  in[4] = e->held;
  formulas->evaluate(formulas->self, in, out);
}

static double value_at(const fs_engine* e, fs_place place) {
  switch (place.kind) {
    case FS_VALUE:
      return e->values[place.index];
    case FS_SLOPE:
      return e->slopes[place.index];
    case FS_SLOT:
      return e->slots[place.index];
    default:
      return 0.0;
  }
}

static int is_finite(const fs_engine* e) {
  const size_t n = present(e)->n;
  double sum = 0.0;
  size_t i;
  for (i = 0; i < n; ++i) sum += 0.0 * e->x[i];
  for (i = 0; i < n; ++i) sum += 0.0 * e->dx[i];
  return sum == 0.0;
}

static void load_jacobian(fs_engine* e, double t) {
  evaluate_in_mode(e, &present(e)->jacobian, t, e->x, e->dx, e->entries);
}

/* K = [E_z | G_y], by the slopes of the states and the other unknowns, where by_slope is 0; else
   by_slope E + G. Places as in `order`; NULL: as they are. */
static void load_matrix(const fs_engine* e, double by_slope, const fs_order* order, double* to) {
  const fs_mode* m = present(e);
  const size_t n = m->n;
  size_t k;
  for (k = 0; k < n * n; ++k) to[k] = 0.0;
  for (k = 0; k < m->entry_count; ++k) {
    const fs_entry* entry = &m->entries[k];
    size_t column = entry->column;
    if (by_slope == 0.0) {
      column = m->slope_column[column];
      if ((column < m->d) != (entry->is_slope != 0)) continue;
    }
    column = order == NULL ? column : order->column_place[column];
    to[column * n + (order == NULL ? entry->row : order->row_place[entry->row])] +=
        entry->is_slope && by_slope != 0.0 ? by_slope * e->entries[k] : e->entries[k];
  }
}

/* Factors of such a matrix: in the order prepared for it, or as its numbers want it. */
static int factor_matrix(const fs_engine* e, double by_slope, fs_factors* to) {
  const fs_mode* m = present(e);
  to->order = by_slope == 0.0 ? &m->slope_order : &m->step_order;
  if (to->order->row_place != NULL) {
    load_matrix(e, by_slope, to->order, to->m);
    if (factor_in_order(to->m, m->n, to->order)) return 1;
  }
  to->order = NULL;
  load_matrix(e, by_slope, NULL, to->m);
  return factor(to->m, m->n, to->pivots, 1e-14);
}

static void solve_matrix(const fs_engine* e, const fs_factors* by, double* v) {
  const size_t n = present(e)->n;
  if (by->order == NULL)
    solve(by->m, by->pivots, n, v);
  else
    solve_in_order(by->m, n, by->order, v, e->permuted);
}

/* K y = -(G_z z + r), where y are the slopes of the states and the other unknowns. */
static int fill(fs_engine* e, fs_spare* s, double t) {
  const fs_mode* m = present(e);
  const size_t n = m->n;
  const size_t d = m->d;
  double* matrix = e->factors.m;
  size_t i, j, k;
  load_jacobian(e, t);
  load_matrix(e, 0.0, NULL, matrix);
  /* Rows in balance: torques and angles differ by many orders. */
  for (i = 0; i < n; ++i) {
    double largest = 0.0;
    for (j = 0; j < n; ++j) largest = fmax(largest, fabs(matrix[j * n + i]));
    e->work[i] = largest > 0.0 ? 1.0 / largest : 0.0;
    for (j = 0; j < n; ++j) matrix[j * n + i] *= e->work[i];
  }
  s->mode = FS_NONE;
  if (!factor(matrix, n, e->factors.pivots, 1e-13)) return 0;
  for (j = 0; j < n; ++j) {
    double* column = s->inverse + j * n;
    for (i = 0; i < n; ++i) column[i] = 0.0;
    column[j] = e->work[j];
    solve(matrix, e->factors.pivots, n, column);
  }
  for (k = 0; k < n * d; ++k) s->reaction[k] = 0.0;
  for (k = 0; k < m->entry_count; ++k) {
    const fs_entry* entry = &m->entries[k];
    const size_t state = m->slope_column[entry->column];
    if (entry->is_slope || state >= d) continue;
    for (i = 0; i < n; ++i)
      s->reaction[state * n + i] -= s->inverse[entry->row * n + i] * e->entries[k];
  }
  for (k = 0; k < d; ++k) copy(s->a + k * d, s->reaction + k * n, d);
  for (k = 0; k < m->key_count; ++k) s->key[k] = e->held[m->key[k]];
  fs_prepare_steps(s->a, d, e->model->step, s->first, s->second, e->scratch);
  s->mode = e->mode;
  return 1;
}

static int has_key(const fs_engine* e, const double* key) {
  const fs_mode* m = present(e);
  size_t k;
  for (k = 0; k < m->key_count; ++k)
    if (key[k] != e->held[m->key[k]]) return 0;
  return 1;
}

static int choose_configuration(fs_engine* e, double t) {
  const fs_mode* m = present(e);
  size_t k;
  fs_spare* s;
  for (k = 0; k < m->configuration_count; ++k)
    if (has_key(e, m->configurations[k].key)) {
      e->active = &m->configurations[k];
      return 1;
    }
  for (k = 0; k < FS_SPARES; ++k)
    if (e->spares[k].mode == e->mode && has_key(e, e->spares[k].key)) {
      e->active = &e->spares[k].made;
      return 1;
    }
  s = &e->spares[e->oldest_spare];
  e->oldest_spare = (e->oldest_spare + 1) % FS_SPARES;
  e->active = &s->made;
  if (!fill(e, s, t)) return 0;
  if (e->hooks.keep != NULL) e->hooks.keep(e->hooks.owner, e->mode, &s->made);
  return 1;
}

static void complete_affine(fs_engine* e, double t) {
  const fs_mode* m = present(e);
  const size_t n = m->n;
  const size_t d = m->d;
  double* y = e->work;
  size_t i, k;
  evaluate_in_mode(e, &m->residual, t, e->zero, e->zero, e->r);
  for (i = 0; i < n; ++i) e->residual[i] = -e->r[i];
  for (k = 0; k < d; ++k) e->z[k] = e->x[m->differential[k]];
  multiply(e->active->inverse, e->residual, n, n, y);
  copy(e->b0, y, d);
  multiply_add(e->active->reaction, e->z, n, d, y);
  for (k = 0; k < d; ++k) e->dx[m->differential[k]] = y[k];
  for (k = 0; k < n - d; ++k) e->x[m->algebraic[k]] = y[d + k];
}

static int complete_nonlinear(fs_engine* e, double t) {
  const fs_mode* m = present(e);
  const size_t n = m->n;
  const size_t d = m->d;
  double change = 1.0;
  size_t j;
  int k;
  for (k = 0; k < kMostNewton; ++k) {
    if (k == 0 || change > 0.1) { /* else the factors at hand converge */
      load_jacobian(e, t);
      if (!factor_matrix(e, 0.0, &e->factors)) return 0;
    }
    evaluate_in_mode(e, &m->residual, t, e->x, e->dx, e->residual);
    solve_matrix(e, &e->factors, e->residual);
    change = 0.0;
    for (j = 0; j < d; ++j) {
      double* slope = &e->dx[m->differential[j]];
      *slope -= e->residual[j];
      change = fmax(change, fabs(e->residual[j]) / (1.0 + fabs(*slope)));
    }
    for (j = 0; j < n - d; ++j) {
      double* value = &e->x[m->algebraic[j]];
      *value -= e->residual[d + j];
      change = fmax(change, fabs(e->residual[d + j]) / (1.0 + fabs(*value)));
    }
    if (!is_finite(e)) return 0;
    if (change < 1e-11) return 1;
  }
  return change < 1e-6;
}

static int complete(fs_engine* e, double t) {
  if (!present(e)->is_affine) return complete_nonlinear(e, t);
  complete_affine(e, t);
  return is_finite(e);
}

static void take_held(fs_engine* e) {
  const fs_mode* m = present(e);
  size_t k;
  for (k = 0; k < m->held_count; ++k) e->held[k] = value_at(e, m->held[k]);
}

FS_API int fs_enter(fs_engine* e, size_t mode, double t) {
  const fs_mode* m;
  size_t i;
  e->mode = mode;
  m = present(e);
  take_held(e);
  /* Guesses, too, come from the point alone: the same point always gives the same numbers. */
  for (i = 0; i < m->n; ++i) {
    e->x[i] = value_at(e, m->guess[i]);
    e->dx[i] = 0.0;
  }
  if (m->is_affine && !choose_configuration(e, t)) return 0;
  return complete(e, t);
}

static void advance_affine(fs_engine* e, double t, uint64_t ticks) {
  const fs_mode* m = present(e);
  const size_t n = m->n;
  const size_t d = m->d;
  uint64_t done = 0;
  size_t i, k;
  int level;
  for (k = 0; k < d; ++k) e->z[k] = e->x[m->differential[k]];
  for (level = 0; level <= FS_LEVELS; ++level) {
    const uint64_t part = kWhole >> level;
    const double* b1 = e->b0;
    if ((ticks & part) == 0) continue;
    done += part;
    if (m->reads_time) {
      evaluate_in_mode(e, &m->residual, t + e->model->step * (double)done / (double)kWhole, e->zero,
                       e->zero, e->r);
      for (i = 0; i < n; ++i) e->residual[i] = -e->r[i];
      multiply(e->active->inverse, e->residual, n, n, e->work);
      copy(e->b1, e->work, d);
      b1 = e->b1;
    }
    fs_affine_step(e->active, d, level, e->z, e->b0, b1, e->work + n);
    if (m->reads_time) copy(e->b0, e->b1, d);
  }
  for (k = 0; k < d; ++k) e->x[m->differential[k]] = e->z[k];
}

/* (E/h + G) v = -F(end, x, 0); x += v. */
static void implicit_part(fs_engine* e, double end, const fs_factors* by, double* x) {
  const fs_mode* m = present(e);
  size_t i;
  evaluate_in_mode(e, &m->residual, end, x, e->zero, e->residual);
  solve_matrix(e, by, e->residual);
  for (i = 0; i < m->n; ++i) x[i] -= e->residual[i];
}

/* Linearly implicit Euler with E and G as loaded by the search for the point where it begins, one
   step of the full and two of half the length, extrapolated. Returns how far the two are apart, in
   units of what is allowed; not finite if it fails. */
static double extrapolated_step(fs_engine* e, double t, double length) {
  const fs_mode* m = present(e);
  const size_t n = m->n;
  double apart = 0.0;
  size_t i, k;
  if (!factor_matrix(e, 1.0 / length, &e->factors) ||
      !factor_matrix(e, 2.0 / length, &e->half_factors))
    return NAN;
  copy(e->full_x, e->x, n);
  implicit_part(e, t + length, &e->factors, e->full_x);
  implicit_part(e, t + 0.5 * length, &e->half_factors, e->x);
  implicit_part(e, t + length, &e->half_factors, e->x);
  for (k = 0; k < m->d; ++k) {
    i = m->differential[k];
    apart = fmax(apart,
                 fabs(e->x[i] - e->full_x[i]) / (kAllowed * (m->nominal[i] + fabs(e->start_x[i]))));
  }
  for (i = 0; i < n; ++i) e->x[i] = 2.0 * e->x[i] - e->full_x[i];
  return is_finite(e) ? apart : NAN;
}

/* In parts where the step is too long for what is not linear in it (a clutch that is about to
   stick), at most kMostParts of them. */
static int advance_nonlinear(fs_engine* e, double t, double length) {
  const size_t n = present(e)->n;
  double done = 0.0;
  double part = length;
  while (done < length) {
    double apart;
    part = fmin(part, length - done);
    copy(e->start_x, e->x, n);
    apart = extrapolated_step(e, t + done, part);
    if (!(apart <= 1.0) && part > 1.5 * length / kMostParts) {
      copy(e->x, e->start_x, n);
      part *= 0.5;
      continue;
    }
    if (isnan(apart)) return 0;
    if (apart > 1.0) e->status |= FS_STEP_ROUGH;
    done += part;
    if (length - done < 1e-9 * length) break;
    if (!complete_nonlinear(e, t + done)) return 0;
    if (apart < 0.2) part *= 2.0;
  }
  return 1;
}

/* From t to t + length, which are so many ticks. 0 if not finite. */
static int advance(fs_engine* e, double t, double length, uint64_t ticks) {
  if (ticks == 0) return 1;
  if (present(e)->is_affine)
    advance_affine(e, t, ticks);
  else if (!advance_nonlinear(e, t, length))
    return 0;
  return complete(e, t + length);
}

static void save(fs_engine* e) {
  const fs_mode* m = present(e);
  copy(e->saved_x, e->x, m->n);
  copy(e->saved_dx, e->dx, m->n);
  copy(e->saved_b0, e->b0, m->d);
  if (!m->is_affine) copy(e->saved_entries, e->entries, m->entry_count);
}

static void restore(fs_engine* e) {
  const fs_mode* m = present(e);
  copy(e->x, e->saved_x, m->n);
  copy(e->dx, e->saved_dx, m->n);
  copy(e->b0, e->saved_b0, m->d);
  if (!m->is_affine) copy(e->entries, e->saved_entries, m->entry_count);
}

static void evaluate_relations(fs_engine* e, double t, double* out) {
  evaluate_in_mode(e, &present(e)->relations, t, e->x, e->dx, out);
}

/* The unknowns of the mode and their slopes, to the state. */
static void write_state(fs_engine* e, double t) {
  const fs_mode* m = present(e);
  size_t k;
  evaluate_in_mode(e, &m->variables, t, e->x, e->dx, e->targets);
  for (k = 0; k < m->target_count; ++k)
    (m->targets[k].kind == FS_SLOPE ? e->slopes : e->values)[m->targets[k].index] = e->targets[k];
}

/* A variable that is differentiated in this mode and has changed since the left limits by more than
   the fastest of them moves in `duration`; FS_NONE: none. */
static size_t jumping_variable(const fs_engine* e, double duration) {
  const fs_mode* m = present(e);
  double fastest = 0.0;
  size_t k;
  for (k = 0; k < m->target_count; ++k)
    if (m->targets[k].kind == FS_SLOPE) {
      const size_t v = m->targets[k].index;
      fastest = fmax(fastest, fmax(fabs(e->left_slopes[v]), fabs(e->slopes[v])));
    }
  for (k = 0; k < m->target_count; ++k)
    if (m->targets[k].kind == FS_SLOPE) {
      const size_t v = m->targets[k].index;
      const double x = e->left_values[v];
      const double y = e->values[v];
      if (!(fabs(y - x) <= duration * fastest + 1e-6 * fmax(1.0, fmax(fabs(x), fabs(y))))) return v;
    }
  return FS_NONE;
}

/* ---- What holds after an instant, in a bounded number of rounds -------------------------------
   The rounds are those of the offline event iteration: with pre() frozen, mode and point follow
   from the slots and relations and discrete equations from the point, until nothing changes; then
   pre() moves on. */

static double* relation_slot(fs_engine* e, size_t r) {
  return &e->slots[e->model->relations[r].slot];
}

static void evaluate_in_model(const fs_engine* e, const fs_formulas* formulas, double t,
                              const double* values, const double* slopes, double* out) {
  const double* in[5];
  in[0] = &t;
  in[1] = values;
  in[2] = slopes;
  in[3] = e->model->parameters;
  in[4] = e->slots;
  formulas->evaluate(formulas->self, in, out);
}

/* How far a relation may be from zero without having left it: what it moves in the tick of an
   event, and what it was off when it was put back there. A lock that keeps accelerations keeps that
   slip. */
static double leaving_width(const fs_engine* e, size_t r) {
  return fmax(kBand * e->sizes[r], fmin(e->rest[r], 100.0 * kBand * e->sizes[r]));
}

/* What counts as zero in an instant: more, so that what has left zero with it counts, too. */
static double zero_width(const fs_engine* e, size_t r) {
  return fmax(4.0 * kBand * e->sizes[r], leaving_width(e, r));
}

static int relation_value(const fs_engine* e, size_t r, double value) {
  const fs_relation* relation = &e->model->relations[r];
  const int exact = relation->is_strict ? value > 0.0 : value >= 0.0;
  if (!relation->is_continuous || fabs(value) > zero_width(e, r)) return exact;
  if (e->sizes[r] == 0.0) return exact; /* zero for good, with these discrete values */
  if (e->at_zero[r] == kFired && e->is_as_before &&
      fabs(fabs(value) - 0.5 * e->rest[r]) <= 1e-6 * e->rest[r] + kNoise * e->sizes[r])
    return e->crossed[r]; /* what fired it still does */
  if (e->at_zero[r] != kAway || e->keeps_at_zero) return e->slots[relation->slot] != 0.0;
  return !relation->is_strict;
}

/* Whether the point is that of the discrete values with which the round of pre() began. */
static int is_as_before(const fs_engine* e) {
  size_t k;
  for (k = 0; k < e->model->discrete_count; ++k) {
    const size_t slot = e->model->discretes[k].slot;
    if (e->slots[slot] != e->entry_slots[slot]) return 0;
  }
  return 1;
}

/* Relations and discrete equations from the point. With `adopt` 0, relations that may cross zero
   are only compared; `violated` marks those that differ. Returns how many do. */
static size_t take_values(fs_engine* e, double t, int adopt) {
  const fs_model* m = e->model;
  size_t count = 0;
  size_t l, i;
  e->is_as_before = is_as_before(e);
  clear_flags(e->violated, m->relation_count);
  for (l = 0; l < m->level_count; ++l) {
    const fs_level* level = &m->levels[l];
    evaluate_in_model(e, &level->formulas, t, e->values, e->slopes, e->results);
    for (i = 0; i < level->count; ++i) {
      const size_t k = level->items[i];
      const double value = e->results[i];
      if (k >= m->relation_count) {
        e->slots[m->equation_slots[k - m->relation_count]] = value;
      } else {
        double now;
        e->sizes[k] = e->results[level->count + i]; /* it may hang on discrete values, too */
        now = relation_value(e, k, value) ? 1.0 : 0.0;
        if (adopt || !m->relations[k].is_continuous) {
          *relation_slot(e, k) = now;
        } else if (*relation_slot(e, k) != now) {
          e->violated[k] = 1;
          e->ahead[k] = fabs(value) / (e->sizes[k] > 0.0 ? e->sizes[k] : 1.0);
          ++count;
        }
      }
    }
  }
  return count;
}

/* The mode of the present slots; FS_NONE if it is not known. It may be one that cannot be prepared.
 */
static size_t find_mode(fs_engine* e, double t) {
  const fs_model* m = e->model;
  const double* in[2];
  size_t row, k;
  if (e->hooks.find_mode != NULL) return e->hooks.find_mode(e->hooks.owner, t);
  in[0] = m->parameters;
  in[1] = e->slots;
  m->conditions.evaluate(m->conditions.self, in, e->conditions);
  for (row = 0; row < m->row_count; ++row) {
    const double* wanted = m->rows + row * m->condition_count;
    for (k = 0; k < m->condition_count; ++k)
      if (!isnan(wanted[k]) && wanted[k] != e->conditions[k]) break;
    if (k == m->condition_count) return m->row_modes[row];
  }
  return FS_NONE;
}

/* Values of the relations here and 2^bits ticks later. */
static int look_ahead(fs_engine* e, double t, int bits) {
  const uint64_t ticks = (uint64_t)1 << bits;
  const double duration = e->model->step * (double)ticks / (double)kWhole;
  const unsigned told = e->status;
  int moved;
  evaluate_relations(e, t, e->relation_values);
  save(e);
  moved = advance(e, t, duration, ticks);
  if (moved) evaluate_relations(e, t + duration, e->ahead);
  restore(e);
  e->status = told;
  return moved;
}

/* Relations that were located at zero took the value beyond it. If the state now stays at zero or
   turns back, they take the value zero has. */
static int leave_zero(fs_engine* e, double t) {
  const fs_model* m = e->model;
  int any = 0;
  int changed = 0;
  size_t r;
  for (r = 0; r < m->relation_count && !any; ++r) any = e->at_zero[r] == kFired;
  if (!any || !look_ahead(e, t, kAheadBits)) return 0;
  for (r = 0; r < m->relation_count; ++r) {
    double* value = relation_slot(e, r);
    const int at_zero_value = !m->relations[r].is_strict;
    const double side = *value != 0.0 ? 1.0 : -1.0;
    if (e->at_zero[r] != kFired || fabs(e->relation_values[r]) > zero_width(e, r) ||
        (*value != 0.0) == at_zero_value)
      continue;
    e->at_zero[r] = kWasThere;
    if (side * (e->ahead[r] - e->relation_values[r]) > 1e-14 * e->sizes[r]) continue;
    *value = 1.0 - *value;
    changed = 1;
  }
  return changed;
}

static int is_resting(const fs_engine* e, size_t r) {
  return e->model->relations[r].is_continuous && e->at_zero[r] == kWasThere &&
         fabs(e->relation_values[r]) <= zero_width(e, r);
}

/* A relation that rests at zero, as the slip of a brake does that others hold, changes at the
   instant at which it is let go, not when it has left the band: a lock that keeps accelerations
   would keep the slip it had by then. One that changed so and rests again has the value of zero.
   Each once in an instant. A slip may begin with an acceleration of zero, so a second look reaches
   further. */
static int leave_rest(fs_engine* e, double t) {
  const fs_mode* m = present(e);
  int changed = 0;
  int bits;
  for (bits = kAheadBits; bits <= kFarBits && !changed; bits += kFarBits - kAheadBits) {
    int any = 0;
    size_t k;
    evaluate_relations(e, t, e->relation_values);
    for (k = 0; k < m->guard_count && !any; ++k) any = is_resting(e, m->guards[k]);
    if (!any || !look_ahead(e, t, bits)) return 0;
    for (k = 0; k < m->guard_count; ++k) {
      const size_t r = m->guards[k];
      double* value = relation_slot(e, r);
      const double side = *value != 0.0 ? 1.0 : -1.0;
      const double moved = side * (e->ahead[r] - e->relation_values[r]);
      const double noise = kNoise * e->sizes[r];
      const int has_zero_value = (*value != 0.0) == !e->model->relations[r].is_strict;
      if (!is_resting(e, r)) continue;
      /* One on its way to zero does not rest there; in a tie it is all but there. */
      if (e->armed[r] && (bits > kAheadBits || side * e->ahead[r] >= 0.0)) continue;
      if (e->turned[r] == 0 && moved < -noise) {
        e->at_zero[r] = kFired;
      } else if (e->turned[r] != 1 || has_zero_value || bits < kFarBits || fabs(moved) > noise) {
        continue;
      }
      ++e->turned[r];
      *value = 1.0 - *value;
      changed = 1;
    }
  }
  return changed;
}

static int is_open(fs_engine* e, size_t r) {
  return e->model->relations[r].is_continuous && !e->model->relations[r].is_strict &&
         *relation_slot(e, r) != 0.0 && fabs(e->relation_values[r]) <= zero_width(e, r);
}

/* What turned in this instant because it was to leave zero; not in a circle. */
static int has_turned(const fs_engine* e, size_t r) {
  return e->turned[r] != 0 && e->turned[r] < kMostTurns &&
         fabs(e->relation_values[r]) <= zero_width(e, r);
}

/* Where a mode is entered, what holds only because it is at zero takes the value just after; so
   does what turned before, which the mode now entered may hold at zero. */
static void look_beyond_zero(fs_engine* e, double t) {
  const size_t count = e->model->relation_count;
  int any = 0;
  size_t r;
  evaluate_relations(e, t, e->relation_values);
  for (r = 0; r < count && !any; ++r) any = is_open(e, r) || has_turned(e, r);
  if (!any || !look_ahead(e, t, kAheadBits)) return;
  for (r = 0; r < count; ++r) {
    const double moved = e->ahead[r] - e->relation_values[r];
    const int stays = fabs(moved) <= 1e-14 * e->sizes[r];
    if (!has_turned(e, r) && (!is_open(e, r) || stays)) continue;
    if (has_turned(e, r)) ++e->turned[r];
    *relation_slot(e, r) = stays ? (double)!e->model->relations[r].is_strict : moved > 0.0;
    e->at_zero[r] = kWasThere;
  }
}

static const fs_handover* find_handover(const fs_engine* e) {
  const fs_mode* m = present(e);
  size_t k;
  for (k = 0; k < m->handover_count; ++k)
    if (e->model->reset_count == 0 ||
        memcmp(m->handovers[k].asked, e->asked, e->model->reset_count) == 0)
      return &m->handovers[k];
  return NULL;
}

/* What was before, with what reinit sets, into the states of the mode just entered. 0: that has no
   finite solution. */
static int hand_over(fs_engine* e, double t) {
  const fs_model* model = e->model;
  const fs_mode* m = present(e);
  const fs_handover* h;
  int any = 0, any_asked = 0;
  size_t c, k;
  for (k = 0; k < model->reset_count; ++k) {
    e->asked[k] = e->pending[k];
    any = any_asked = any || e->asked[k];
  }
  write_state(e, t);
  for (c = 0; c < m->carried_count; ++c) {
    const double found = e->values[m->carried[c]];
    double wanted = e->base_values[m->carried[c]];
    k = m->carried_reset[c];
    if (k != FS_NONE && e->asked[k]) wanted = e->asked_values[k];
    e->deviations[c] = wanted - found;
    any = any || fabs(wanted - found) > 1e-9 * fmax(1.0, fmax(fabs(wanted), fabs(found)));
  }
  if (!any) return 1;
  h = find_handover(e);
  if (h == NULL && e->hooks.make_handover != NULL) {
    e->hooks.make_handover(e->hooks.owner, t);
    h = find_handover(e);
  }
  if (h == NULL) {
    if (any_asked) e->status |= FS_RESET_LOST;
    return 1;
  }
  for (k = 0; k < m->d; ++k) e->z[k] = e->x[m->differential[k]];
  multiply_add(h->map, e->deviations, m->d, m->carried_count, e->z);
  for (k = 0; k < m->d; ++k) e->x[m->differential[k]] = e->z[k];
  for (k = 0; k < model->reset_count; ++k) /* exactly */
    if (e->asked[k] && m->resets[k].place != FS_NONE)
      e->x[m->resets[k].place] = m->resets[k].sign * e->asked_values[k];
  if (!complete(e, t)) return 0;
  write_state(e, t);
  return 1;
}

/* The point of the mode that the slots ask for, from where the round starts. If there is none, the
   mode is the one before. */
static int solve_round(fs_engine* e, double t) {
  const fs_model* m = e->model;
  const size_t before = e->mode;
  const size_t found = find_mode(e, t);
  if (found == FS_NONE) {
    e->status |= FS_MODE_UNPREPARED;
    return kUnprepared;
  }
  copy(e->values, e->base_values, m->variable_count);
  copy(e->slopes, e->base_slopes, m->variable_count);
  if (m->modes[found] == NULL) return kFailed;
  if (fs_enter(e, found, t) && hand_over(e, t)) return kSolved;
  e->mode = before;
  return kFailed;
}

/* One relation at a time: the one of least index, which cannot run in a circle where the continuous
   part is monotone (Murty's principal pivoting); where it does all the same, the most violated one,
   then any in turn. A configuration without solution is left at random. */
static int pivot(fs_engine* e, double t) {
  const fs_model* m = e->model;
  const size_t limit = 16 + 2 * m->relation_count;
  uint64_t random = 88172645463325252u;
  int strategy;
  for (strategy = 0; strategy < 3; ++strategy) {
    size_t round;
    for (round = 0; round < limit; ++round) {
      size_t count = 0, chosen = FS_NONE, r, at;
      int solved = kFailed, k;
      /* Discrete values follow the relations before another relation is asked. */
      for (k = 0; k < kMostRounds; ++k) {
        copy(e->history, e->slots, m->slot_count);
        solved = solve_round(e, t);
        if (solved == kUnprepared) return kUnprepared;
        count = take_values(e, t, 0);
        if (memcmp(e->history, e->slots, m->slot_count * sizeof(double)) == 0) break;
      }
      if (k == kMostRounds) break;
      if (solved && count == 0) return kSolved;
      random ^= random << 13;
      random ^= random >> 7;
      random ^= random << 17;
      at = (size_t)(random % (uint64_t)(solved ? count : larger(1, m->relation_count)));
      for (r = 0; r < m->relation_count; ++r) {
        if (!solved) {
          if (r == at && m->relations[r].is_continuous) chosen = r;
          continue;
        }
        if (!e->violated[r]) continue;
        if (strategy == 0 && chosen == FS_NONE) chosen = r;
        if (strategy == 1 && (chosen == FS_NONE || e->ahead[r] > e->ahead[chosen])) chosen = r;
        if (strategy == 2 && at-- == 0) chosen = r;
      }
      if (chosen != FS_NONE) *relation_slot(e, chosen) = 1.0 - *relation_slot(e, chosen);
    }
  }
  return kFailed;
}

/* A round that asks for no change, or, if once, just one. */
static int agree(fs_engine* e, double t, int once) {
  const fs_model* m = e->model;
  const size_t bytes = m->slot_count * sizeof(double);
  const size_t entered_from = e->mode;
  size_t seen = 0;
  int round;
  e->keeps_at_zero = 0;
  for (round = 0; round < kMostRounds; ++round) {
    size_t k;
    int solved;
    for (k = 0; k < seen; ++k)
      if (memcmp(e->history + k * m->slot_count, e->slots, bytes) == 0) break;
    if (k < seen) {
      if (e->keeps_at_zero) break;
      /* "Locked while |tau| <= c" against "tau = c while it slides": what put the torque beyond its
         bound must not be undone by the torque being at the bound afterwards. */
      e->keeps_at_zero = 1;
      seen = 0;
    }
    copy(e->history + seen * m->slot_count, e->slots, m->slot_count);
    ++seen;
    /* A configuration without a solution need not be the last one: it is judged by the values
       before it. */
    solved = solve_round(e, t);
    if (solved == kUnprepared) return kUnprepared;
    if (solved && round == 0 && e->crossing_is_past) (void)leave_zero(e, t);
    if (solved && round == 0 && (e->entered_mode || e->mode != entered_from))
      look_beyond_zero(e, t);
    (void)take_values(e, t, 1);
    if (once || memcmp(e->history + (seen - 1) * m->slot_count, e->slots, bytes) == 0)
      return solved;
  }
  return pivot(e, t);
}

static int reinitialise(fs_engine* e, double t) {
  const fs_model* m = e->model;
  int any = 0;
  size_t k, c;
  clear_flags(e->pending, m->reset_count);
  if (m->reinit_count == 0) return 0;
  evaluate_in_model(e, &m->reinits, t, e->base_values, e->base_slopes,
                    e->results); /* left limits */
  for (k = 0; k < m->reinit_count; ++k) {
    const int asked = e->results[k] != 0.0;
    const size_t place = m->reset_place[k];
    if (asked && !e->reset_done[k]) {
      /* It belongs to this hop: what the round has projected is taken back. */
      for (c = 0; c < present(e)->carried_count && !any; ++c)
        e->values[present(e)->carried[c]] = e->base_values[present(e)->carried[c]];
      any = 1;
      e->pending[place] = 1;
      e->asked_values[place] = e->results[m->reinit_count + k];
      e->values[m->reset_variables[place]] = e->asked_values[place];
    }
    e->reset_done[k] = (unsigned char)asked;
  }
  return any;
}

/* ---- State machines: a transition is taken in one round, and its target entered in the next ----
 */

/* Relations from the point by variables of the model. */
static void evaluate_by_model(fs_engine* e, double t, double* out) {
  const fs_model* m = e->model;
  size_t l, i;
  for (l = 0; l < m->level_count; ++l) {
    const fs_level* level = &m->levels[l];
    evaluate_in_model(e, &level->formulas, t, e->values, e->slopes, e->results);
    for (i = 0; i < level->count; ++i)
      if (level->items[i] < m->relation_count) out[level->items[i]] = e->results[i];
  }
}

static int some_machine_fires(const fs_engine* e) {
  size_t k;
  for (k = 0; k < e->model->machine_count; ++k)
    if (e->slots[e->model->machines[k]] != 0.0) return 1;
  return 0;
}

/* Hands over to the states that are entered next. Relations that read what is handed over must not
   judge them by what was left there long ago. Pre: the values are those of the round. */
static int enter_states(fs_engine* e, double t) {
  const fs_model* m = e->model;
  size_t k, r;
  if (!some_machine_fires(e)) return 0;
  evaluate_in_model(e, &m->entrance_values, t, e->values, e->slopes, e->results);
  for (k = 0; k < m->entrance_count; ++k) {
    const fs_entrance* to = &m->entrances[k];
    const double value = e->results[m->entrance_count + k];
    if (e->results[k] == 0.0) continue;
    if (to->place.kind == FS_SLOT) {
      e->slots[to->place.index] = value;
      e->slots[to->pre] = value;
      continue;
    }
    e->values[to->place.index] = value;
    if (to->reset == FS_NONE) continue;
    e->pending[to->reset] = (unsigned char)to->is_set;
    e->asked_values[to->reset] = value;
  }
  evaluate_by_model(e, t, e->model_relations);
  for (r = 0; r < m->relation_count; ++r) {
    const double value = e->model_relations[r];
    if (value == e->left_relations[r] || !m->relations[r].is_continuous ||
        e->at_zero[r] != (unsigned char)kAway)
      continue;
    e->left_relations[r] = value;
    if (fabs(value) > zero_width(e, r)) *relation_slot(e, r) = value > 0.0 ? 1.0 : 0.0;
  }
  copy(e->entrance_slots, e->slots, m->slot_count);
  e->entered_state = 1;
  return 1;
}

static int accept_values(fs_engine* e);

/* Whether a machine leaves its state at the values at hand, whatever relations without a value say
   there. Takes the discrete values that follow. */
static int leaves_for_sure(fs_engine* e, double t) {
  const fs_model* m = e->model;
  const fs_mode* in = present(e);
  int way;
  copy(e->history, e->slots, m->slot_count);
  for (way = 0; way < 3; ++way) {
    size_t k;
    copy(e->slots, e->history, m->slot_count);
    for (k = 0; k < in->open_count && way < 2; ++k) *relation_slot(e, in->open[k]) = (double)way;
    (void)take_values(e, t, 0);
    if (some_machine_fires(e)) continue;
    copy(e->slots, e->history, m->slot_count);
    return 0;
  }
  return 1;
}

/* Of the relations with a value on the way that have not been passed, the first that changes on the
   straight line from the base to the projected values; FS_NONE: none does. */
static size_t first_on_the_way(const fs_engine* e, double* fraction) {
  const fs_mode* in = present(e);
  size_t first = FS_NONE;
  size_t k;
  for (k = 0; k < in->path_count; ++k) {
    const size_t r = in->path[k];
    const double begin = e->left_relations[r];
    const double end = e->model_relations[r];
    const double side = e->slots[e->model->relations[r].slot] != 0.0 ? 1.0 : -1.0;
    double at;
    if (e->at_zero[r] != (unsigned char)kAway || side * begin < -zero_width(e, r) ||
        !(side * end < -zero_width(e, r)))
      continue;
    at = fmax(side * begin, 0.0) / (fmax(side * begin, 0.0) - side * end);
    if (first != FS_NONE && !(at < *fraction)) continue;
    first = r;
    *fraction = at;
  }
  return first;
}

/* The projection into states just entered, judged as offline (MO): what leads out of them holds
   where it begins: nothing moves; on the way: it ends there; at its end only: it stands. Returns
   whether a state is left. */
static int leave_on_the_way(fs_engine* e, double t) {
  const fs_model* m = e->model;
  const fs_mode* in = present(e);
  const fs_handover* h;
  double fraction = 0.0;
  int leaves;
  size_t jumped = FS_NONE;
  size_t k;
  if (!e->entered_state) return 0;
  e->entered_state = 0;
  for (k = 0; k < in->carried_count && jumped == FS_NONE; ++k) {
    const double from = e->base_values[in->carried[k]];
    const double to = e->values[in->carried[k]];
    if (fabs(to - from) > 1e-7 * fmax(1.0, fabs(from))) jumped = in->carried[k];
  }
  if (jumped == FS_NONE) return 0;
  h = find_handover(e);
  if (h == NULL || !h->is_rigid) { /* a relation has a say in the impulse */
    e->status |= FS_STATE_JUMPED;
    e->jumped = jumped;
    return 0;
  }
  evaluate_by_model(e, t, e->model_relations);
  copy(e->projected, e->values, m->variable_count);
  copy(e->work_slots, e->slots, m->slot_count);
  (void)accept_values(e);
  for (k = 0; k < m->relation_count; ++k)
    if (m->relations[k].is_continuous)
      *relation_slot(e, k) = e->entrance_slots[m->relations[k].slot];
  copy(e->values, e->base_values, m->variable_count);
  leaves = leaves_for_sure(e, t);
  while (!leaves) {
    const size_t r = first_on_the_way(e, &fraction);
    if (r == FS_NONE) break;
    *relation_slot(e, r) = 1.0 - *relation_slot(e, r);
    for (k = 0; k < in->carried_count; ++k) {
      const size_t v = in->carried[k];
      e->values[v] = e->base_values[v] + fraction * (e->projected[v] - e->base_values[v]);
    }
    leaves = leaves_for_sure(e, t);
  }
  if (leaves) return 1;
  copy(e->values, e->projected, m->variable_count);
  copy(e->slots, e->work_slots, m->slot_count);
  return 0;
}

static int accept_values(fs_engine* e) {
  const fs_model* m = e->model;
  int changed = 0;
  size_t k;
  for (k = 0; k < m->sample_count; ++k) {
    changed = changed || e->slots[m->samples[k].slot] != 0.0;
    e->slots[m->samples[k].slot] = 0.0;
  }
  for (k = 0; k < m->discrete_count; ++k) {
    const fs_discrete* v = &m->discretes[k];
    if (e->slots[v->pre] == e->slots[v->slot]) continue;
    e->slots[v->pre] = e->slots[v->slot];
    changed = 1;
  }
  return changed;
}

/* The values that the next step starts from. A relation fires once it has left zero. */
static void arm(fs_engine* e) {
  size_t r;
  for (r = 0; r < e->model->relation_count; ++r) {
    const double side = *relation_slot(e, r) != 0.0 ? 1.0 : -1.0;
    if (side * e->relation_values[r] > leaving_width(e, r)) {
      e->armed[r] = 1;
      e->rest[r] = 0.0;
    }
    e->before[r] = e->relation_values[r];
  }
}

static int moves_the_mode(const fs_engine* e, size_t slot) {
  const fs_mode* m = present(e);
  size_t k;
  for (k = 0; k < m->moving_count; ++k)
    if (m->held[k].kind == FS_SLOT && m->held[k].index == slot) return 1;
  return 0;
}

/* A relation that rests at zero keeps the value it had on the way there as long as something hangs
   on it (OT's automata: "torque > bound" while it slides at the bound). Where nothing does it has
   the value of zero: a slip that was negative once must not lock what is let go later. */
static void forget_the_way(fs_engine* e, double t) {
  const fs_model* m = e->model;
  int any = 0, has_looked = 0;
  size_t r;
  evaluate_relations(e, t, e->relation_values);
  for (r = 0; r < m->relation_count; ++r) {
    const int has_zero_value = (*relation_slot(e, r) != 0.0) == !m->relations[r].is_strict;
    e->located[r] = m->relations[r].is_continuous && !has_zero_value &&
                    fabs(e->relation_values[r]) <= zero_width(e, r) &&
                    !moves_the_mode(e, m->relations[r].slot);
    any = any || e->located[r];
  }
  if (!any || !look_ahead(e, t, kFarBits)) return;
  for (r = 0; r < m->relation_count; ++r) {
    if (!e->located[r] || fabs(e->ahead[r] - e->relation_values[r]) > kNoise * e->sizes[r])
      continue;
    *relation_slot(e, r) = 1.0 - *relation_slot(e, r);
    copy(e->work_slots, e->slots, m->slot_count);
    (void)take_values(e, t, 0);
    if (memcmp(e->work_slots, e->slots, m->slot_count * sizeof(double)) == 0) {
      has_looked = 1;
      if (find_mode(e, t) == e->mode) continue;
    }
    copy(e->slots, e->work_slots, m->slot_count);
    *relation_slot(e, r) = 1.0 - *relation_slot(e, r);
  }
  if (!has_looked) return;
  /* A preparation that was asked for a mode has been there. */
  copy(e->values, e->base_values, m->variable_count);
  copy(e->slopes, e->base_slopes, m->variable_count);
  (void)fs_enter(e, e->mode, t);
  write_state(e, t);
}

/* After an instant. What moves off zero has left it, too, however little: a rebound may rise and
   fall within the band, and has to be seen when it is back. So has what is on its way. */
static void arm_anew(fs_engine* e, double t) {
  const fs_model* m = e->model;
  size_t r;
  evaluate_in_model(e, &m->sizes, t, e->values, e->slopes, e->sizes);
  evaluate_relations(e, t, e->relation_values);
  for (r = 0; r < m->relation_count; ++r) {
    const double side = *relation_slot(e, r) != 0.0 ? 1.0 : -1.0;
    e->rest[r] = fmax(0.0, -2.0 * side * e->relation_values[r]);
    e->armed[r] = e->armed[r] && side * e->before[r] > 0.0 &&
                  side * e->relation_values[r] > kNoise * e->sizes[r];
  }
  arm(e);
  if (!look_ahead(e, t, kAheadBits)) return;
  for (r = 0; r < m->relation_count; ++r) {
    const double side = *relation_slot(e, r) != 0.0 ? 1.0 : -1.0;
    if (m->relations[r].is_continuous && side * e->ahead[r] > 0.0 &&
        side * (e->ahead[r] - e->relation_values[r]) > kNoise * e->sizes[r])
      e->armed[r] = 1;
  }
}

/* Marks what fired. Pre: the mode's point is the left limit; fired marks what was located. */
static void begin_instant(fs_engine* e, double t) {
  const fs_model* m = e->model;
  size_t r;
  write_state(e, t);
  evaluate_in_model(e, &m->sizes, t, e->values, e->slopes, e->sizes);
  evaluate_relations(e, t, e->relation_values);
  for (r = 0; r < m->relation_count; ++r) {
    e->at_zero[r] = fabs(e->relation_values[r]) <= zero_width(e, r) ? (unsigned char)kWasThere : 0;
    if (!e->fired[r]) continue;
    *relation_slot(e, r) = 1.0 - *relation_slot(e, r);
    e->at_zero[r] = kFired;
    e->crossed[r] = *relation_slot(e, r) != 0.0;
    e->rest[r] = 2.0 * fabs(e->relation_values[r]);
  }
  copy(e->base_values, e->values, m->variable_count);
  copy(e->base_slopes, e->slopes, m->variable_count);
  copy(e->left_values, e->values, m->variable_count);
  copy(e->left_slopes, e->slopes, m->variable_count);
  if (m->machine_count > 0) evaluate_by_model(e, t, e->left_relations);
  clear_flags(e->pending, m->reset_count);
  clear_flags(e->turned, m->relation_count);
  e->entered_mode = 0;
  e->entered_state = 0;
}

/* pre() of unknowns, from where the rounds start: what a round does to them is not seen by it. */
static void take_left_limits(fs_engine* e, double t) {
  const fs_model* m = e->model;
  size_t k;
  if (m->left_count == 0) return;
  evaluate_in_model(e, &m->lefts, t, e->base_values, e->base_slopes, e->results);
  for (k = 0; k < m->left_count; ++k) e->slots[m->left_slots[k]] = e->results[k];
}

static void take_terminations(fs_engine* e, double t) {
  const fs_model* m = e->model;
  size_t k;
  if (m->termination_count == 0) return;
  evaluate_in_model(e, &m->terminations, t, e->values, e->slopes, e->results);
  for (k = 0; k < m->termination_count; ++k)
    if (e->results[k] != 0.0) {
      e->is_terminated = 1;
      e->terminated_by = k;
    }
}

/* Whether impulses may lead into the present mode: no relation has a say in them. */
static int enters_rigidly(fs_engine* e) {
  const fs_handover* h;
  clear_flags(e->asked, e->model->reset_count);
  h = find_handover(e);
  return h != NULL && h->is_rigid;
}

static void settle(fs_engine* e, double t) {
  const fs_model* m = e->model;
  const size_t bytes = m->slot_count * sizeof(double);
  const size_t from = e->mode;
  const int updates = m->propagates ? 1 : (int)kMostUpdates;
  int was_reset = 0, rounds = 0, changed = 1, k;
  size_t jumping;
  begin_instant(e, t);
  for (k = 0; k < updates && changed; ++k) {
    const size_t before = e->mode;
    int agreed, moved, resets, leaves, enters;
    ++rounds;
    take_left_limits(e, t);
    copy(e->entry_slots, e->slots, m->slot_count);
    e->crossing_is_past = k > 0; /* pre() has moved on: what is at zero counts by where it goes */
    agreed = agree(e, t, m->propagates);
    moved = m->propagates && memcmp(e->slots, e->entry_slots, bytes) != 0;
    if (agreed == kFailed) {
      /* No discrete values agree with the relations they lead to (OT's automata: stuck while the
         torque is within its bound, and sliding it is). Then the equations in force decide, as if
         all were read by pre(). */
      copy(e->slots, e->entry_slots, m->slot_count);
      e->mode = before;
      agreed = agree(e, t, 1);
      moved = memcmp(e->slots, e->entry_slots, bytes) != 0;
      if (agreed == kSolved && !moved) agreed = kFailed;
    }
    if (agreed != kSolved) {
      e->status |= FS_NOT_SETTLED;
      copy(e->slots, e->entry_slots, m->slot_count);
      e->mode = before;
      break;
    }
    take_terminations(e, t);
    resets = reinitialise(e, t);
    leaves = !resets && leave_on_the_way(e, t);
    enters = enter_states(e, t);
    was_reset = was_reset || resets || enters;
    e->entered_mode = e->mode != before || resets || enters;
    changed = accept_values(e);
    changed = changed || resets || leaves || enters || moved;
    if (!changed) changed = leave_zero(e, t);
    if (!changed && !m->propagates) changed = leave_rest(e, t);
    copy(e->base_values, e->values, m->variable_count);
    copy(e->base_slopes, e->slopes, m->variable_count);
    if (e->is_terminated) break;
    /* A state that has been left must not be solved again with what was handed over. */
    if (enters) (void)take_values(e, t, 0);
  }
  if (changed && !e->is_terminated) {
    e->status |= FS_NOT_SETTLED;
    e->is_pending = 1;
    copy(e->values, e->base_values, m->variable_count);
    copy(e->slopes, e->base_slopes, m->variable_count);
  }
  /* What is held may have changed since the last point: pre(). */
  if (!fs_enter(e, e->mode, t)) e->status |= FS_STATE_NOT_FINITE;
  write_state(e, t);
  if (!changed) forget_the_way(e, t);
  jumping = was_reset || enters_rigidly(e)
                ? FS_NONE
                : jumping_variable(e, m->step * (m->adjustment == FS_ADJUST_EXACT ? 1e-3 : 2.0));
  if (jumping != FS_NONE) {
    e->status |= FS_STATE_JUMPED;
    e->jumped = jumping;
  }
  if (e->hooks.on_event != NULL) e->hooks.on_event(e->hooks.owner, t, from, e->mode, rounds);
  arm_anew(e, t);
  clear_flags(e->fired, m->relation_count);
}

/* ---- A sample ---------------------------------------------------------------------------------
 */

static double time_at(const fs_engine* e, uint64_t tick) {
  return e->model->start_time +
         e->model->step * ((double)e->sample + (double)tick / (double)kWhole);
}

FS_API double fs_time(const fs_engine* e) { return time_at(e, 0); }

FS_API void fs_outputs(fs_engine* e, double* outputs) {
  evaluate_in_mode(e, &present(e)->outputs, fs_time(e), e->x, e->dx, outputs);
}

static int is_violated(fs_engine* e, size_t r) {
  const double side = *relation_slot(e, r) != 0.0 ? 1.0 : -1.0;
  return side * e->relation_values[r] < (e->armed[r] ? 0.0 : -leaving_width(e, r));
}

/* Relations whose slot no longer says what they are, marked in `fired`. One that is still at zero
   since the last event has to leave the band around it. */
static int find_violated(fs_engine* e, double t) {
  const fs_mode* m = present(e);
  int any = 0;
  size_t k;
  evaluate_relations(e, t, e->relation_values);
  for (k = 0; k < m->guard_count; ++k) {
    const size_t r = m->guards[k];
    e->fired[r] = (unsigned char)is_violated(e, r);
    any = any || e->fired[r];
  }
  return any;
}

/* The event on the line between the ends of the step (RE (14) to (16)). */
static uint64_t locate_on_line(fs_engine* e, uint64_t length, double t) {
  const fs_mode* m = present(e);
  double fraction = 1.0;
  uint64_t ticks;
  size_t r, i;
  for (r = 0; r < e->model->relation_count; ++r) {
    const double eta = e->before[r] / (e->before[r] - e->relation_values[r]);
    if (e->fired[r] && eta >= 0.0 && eta < fraction) fraction = eta;
  }
  /* Of several the first; the others come later in the sample. */
  for (r = 0; r < e->model->relation_count; ++r)
    if (e->fired[r] &&
        e->before[r] / (e->before[r] - e->relation_values[r]) > fraction * (1.0 + 1e-12))
      e->fired[r] = 0;
  ticks = (uint64_t)floor(fraction * (double)length + 0.5);
  for (i = 0; i < m->n; ++i) e->x[i] = e->saved_x[i] + fraction * (e->x[i] - e->saved_x[i]);
  (void)complete(e, t + e->model->step / (double)kWhole * (double)ticks);
  return ticks;
}

static uint64_t largest_power(uint64_t a) {
  uint64_t power = 1;
  while (power <= a / 2) power *= 2;
  return power;
}

/* In: the mode's point is at the end of a step of `length` ticks from `tick`, where something is
   violated; the beginning is saved. Out: at the event. Returns its tick. */
static uint64_t locate(fs_engine* e, uint64_t tick, uint64_t length, double t) {
  const size_t relations = e->model->relation_count;
  const double tick_time = e->model->step / (double)kWhole;
  uint64_t low = 0;
  uint64_t high = length;
  if (e->model->adjustment == FS_ADJUST_NONE) return tick + length;
  if (e->model->adjustment == FS_ADJUST_DELTA) return tick + locate_on_line(e, length, t);
  restore(e);
  memcpy(e->located, e->fired, relations);
  while (high - low > 1) {
    const uint64_t part = largest_power((high - low) / 2);
    const int moved = advance(e, t + tick_time * (double)low, tick_time * (double)part, part);
    if (!moved || find_violated(e, t + tick_time * (double)(low + part))) {
      high = low + part;
      if (moved) memcpy(e->located, e->fired, relations);
      restore(e);
    } else {
      arm(e); /* a rebound that rises and falls within the step has left zero */
      low += part;
      save(e);
    }
  }
  (void)advance(e, t + tick_time * (double)low, tick_time, 1);
  /* Other parts may lead to other last digits: what was violated at that tick is what fires. */
  if (!find_violated(e, t + tick_time * (double)high)) memcpy(e->fired, e->located, relations);
  return tick + high;
}

static uint64_t ticks_to_sample(const fs_engine* e, double t, uint64_t most) {
  const fs_model* m = e->model;
  uint64_t ticks = most;
  size_t k;
  for (k = 0; k < m->sample_count; ++k) {
    const double wait = (e->slots[m->samples[k].next] - t) / m->step * (double)kWhole;
    if (wait < (double)ticks) ticks = wait > 0.0 ? (uint64_t)floor(wait + 0.5) : 0;
  }
  return ticks;
}

/* Samples of the model (sample(start, interval)) that are due. */
static int fire_samples(fs_engine* e, double t) {
  const fs_model* m = e->model;
  int any = 0;
  size_t k;
  for (k = 0; k < m->sample_count; ++k) {
    double* next = &e->slots[m->samples[k].next];
    if (*next > t + m->step / (double)kWhole) continue;
    *next += m->samples[k].interval;
    e->slots[m->samples[k].slot] = 1.0;
    any = 1;
  }
  return any;
}

static int is_value_of(const fs_input* in, double value) {
  if (!isfinite(value)) return 0;
  return !in->is_discrete || (value == floor(value) && value >= in->least && value <= in->most);
}

/* Inputs that are no values of their types are refused and the last ones held. What they change at
   once is an event at the beginning of the sample. Returns whether there is one. */
static int take_inputs(fs_engine* e, const double* inputs) {
  const fs_model* m = e->model;
  int any = 0, is_event = 0;
  size_t k, r;
  for (k = 0; k < m->input_count; ++k) {
    const fs_input* in = &m->inputs[k];
    if (!is_value_of(in, inputs[k])) {
      e->status |= FS_INPUT_REFUSED;
      continue;
    }
    if (e->slots[in->slot] == inputs[k]) continue;
    e->slots[in->slot] = inputs[k];
    e->slots[in->pre] = inputs[k];
    any = 1;
    is_event = is_event || in->is_discrete;
  }
  if (!any) return 0;
  save(e);
  take_held(e);
  if ((present(e)->is_affine && !choose_configuration(e, fs_time(e))) || !complete(e, fs_time(e))) {
    restore(e);
    e->status |= FS_STATE_NOT_FINITE;
  }
  evaluate_relations(e, fs_time(e), e->relation_values);
  for (r = 0; r < m->relation_count; ++r) {
    e->fired[r] = (unsigned char)is_violated(e, r);
    is_event = is_event || e->fired[r];
  }
  return is_event;
}

FS_API void fs_restart(fs_engine* e) {
  const fs_model* m = e->model;
  size_t k;
  e->sample = 0;
  e->is_pending = 0;
  e->is_terminated = 0;
  e->status = 0;
  copy(e->values, m->start_values, m->variable_count);
  copy(e->slopes, m->start_slopes, m->variable_count);
  copy(e->slots, m->start_slots, m->slot_count);
  clear_flags(e->reset_done, m->reinit_count);
  clear_flags(e->fired, m->relation_count);
  clear_flags(e->armed, m->relation_count);
  for (k = 0; k < m->relation_count; ++k) e->rest[k] = 0.0;
  (void)fs_enter(e, m->start_mode, m->start_time);
  copy(e->base_values, m->start_values, m->variable_count);
  copy(e->base_slopes, m->start_slopes, m->variable_count);
  evaluate_in_model(e, &m->sizes, m->start_time, e->values, e->slopes, e->sizes);
  clear_flags(e->at_zero, m->relation_count);
  forget_the_way(e, m->start_time);
  arm_anew(e, m->start_time);
}

/* Whether what fired may still be an event of this sample. */
static int has_room(const fs_engine* e, int events) {
  size_t r;
  if (events < e->model->max_events) return 1;
  if (events >= e->model->max_events + FS_MOST_IMPACTS) return 0;
  for (r = 0; r < e->model->relation_count; ++r)
    if (e->fired[r] && e->model->relations[r].is_impact) return 1;
  return 0;
}

FS_API unsigned fs_step(fs_engine* e, const double* inputs) {
  const fs_model* m = e->model;
  uint64_t tick = 0;
  int events = 0;
  int is_stuck = 0;
  e->status = 0;
  if (e->is_terminated) return FS_TERMINATED;
  if (inputs != NULL && m->input_count > 0 && take_inputs(e, inputs)) {
    if (!e->is_pending) {
      settle(e, time_at(e, 0));
      ++events;
    }
  }
  if (e->is_pending) {
    e->is_pending = 0;
    (void)find_violated(e, time_at(e, 0));
    settle(e, time_at(e, 0));
    ++events;
  }
  while (tick < kWhole && !e->is_terminated && !is_stuck) {
    const double t = time_at(e, tick);
    const uint64_t length = ticks_to_sample(e, t, kWhole - tick);
    const double duration = m->step * (double)length / (double)kWhole;
    const unsigned told = e->status;
    save(e);
    if (!advance(e, t, duration, length)) {
      restore(e);
      e->status |= FS_STATE_NOT_FINITE;
      is_stuck = 1;
    } else if (length > 0 && find_violated(e, t + duration) && has_room(e, events) &&
               !e->is_pending) {
      if (m->adjustment == FS_ADJUST_EXACT) e->status = told; /* it is taken again, in parts */
      tick = locate(e, tick, length, t);
      settle(e, time_at(e, tick));
      ++events;
    } else {
      size_t r;
      int left = 0;
      for (r = 0; r < m->relation_count; ++r) left = left || e->fired[r];
      if (length > 0 && left) {
        e->status |= FS_EVENTS_LEFT;
        e->is_pending = 1;
      }
      if (length > 0) arm(e);
      tick += length;
      if (fire_samples(e, time_at(e, tick))) {
        clear_flags(e->fired, m->relation_count);
        settle(e, time_at(e, tick));
        ++events;
      }
    }
  }
  ++e->sample;
  if (events > 0) e->status |= FS_EVENT_TAKEN;
  return e->is_terminated ? e->status | FS_TERMINATED : e->status;
}
