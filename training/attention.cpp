// Attention for training on a CPU with AMX: softmax(Q K^T scale) V and its gradients, tile by tile, so that no matrix of
// scores leaves the caches. bfloat16 in and out, float32 sums. One thread.
//
// All tiles hold keys in rows and queries in lanes (S^T = K Q^T), so that the softmax runs down the rows: maxima and
// sums over keys are plain vector operations, and two rows of S^T interleave into the layout that the next product wants.
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

using bf16 = uint16_t;
constexpr int D = 64;        // width of a head
constexpr int UNIT = 32;     // keys and queries are handled by 32
constexpr int BLOCK = 128;   // of each in a step of the backward pass
constexpr float LOG2E = 1.4426950408889634f;

struct alignas(64) TileConfig {
    uint8_t palette = 1, start_row = 0, reserved[14] = {};
    uint16_t bytes_per_row[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// Whoever else uses tiles in this thread finds the configuration as it was.
struct Tiles {
    alignas(64) uint8_t before[64];
    Tiles() {
        _tile_storeconfig(before);
        TileConfig config;
        _tile_loadconfig(&config);
    }
    ~Tiles() {
        if (before[0] != 0) _tile_loadconfig(before);
        else _tile_release();
    }
};

template <class T> struct Buffer {
    T* data = nullptr;
    size_t size = 0;
    T* get(size_t count) {
        if (count > size) {
            std::free(data);
            data = static_cast<T*>(std::aligned_alloc(64, (count * sizeof(T) + 63) / 64 * 64));
            size = count;
        }
        return data;
    }
    ~Buffer() { std::free(data); }
};

inline __m512 exp2_vector(__m512 x) {
    x = _mm512_max_ps(x, _mm512_set1_ps(-126.0f));
    const __m512 whole = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m512 f = _mm512_sub_ps(x, whole);
    __m512 p = _mm512_set1_ps(0.00133335581f);
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.00961812911f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.0555041087f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.240226507f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.693147181f));
    p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(1.0f));
    return _mm512_scalef_ps(p, whole);
}

inline __m512i as_words(__m256bh x) { return _mm512_cvtepu16_epi32((__m256i)x); }

// Row 2i in the low and row 2i + 1 in the high halves: the second operand of a tile product.
inline __m512i interleave(__m512 even, __m512 odd) {
    const __m512i low = as_words(_mm512_cvtneps_pbh(even));
    const __m512i high = as_words(_mm512_cvtneps_pbh(odd));
    return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}

// [rows, 64] with a stride (elements) -> [padded, 64], zeros below.
void copy_rows(const bf16* from, int64_t stride, int rows, int padded, bf16* to) {
    for (int r = 0; r < rows; ++r) std::memcpy(to + r * D, from + r * stride, D * sizeof(bf16));
    std::memset(to + rows * D, 0, size_t(padded - rows) * D * sizeof(bf16));
}

// [padded, 64] -> [32][padded][2]: pairs of dimensions, one row a pair.
void pair_dimensions(const bf16* from, int padded, bf16* to) {
    const auto* in = reinterpret_cast<const int32_t*>(from);
    auto* out = reinterpret_cast<int32_t*>(to);
    const __m512i step = _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                                            _mm512_set1_epi32(D / 2));
    for (int r = 0; r < padded; r += 16)
        for (int pair = 0; pair < D / 2; ++pair)
            _mm512_store_si512(out + size_t(pair) * padded + r,
                               _mm512_i32gather_epi32(step, in + size_t(r) * (D / 2) + pair, 4));
}

// [padded, 64] -> [padded / 2][64][2]: pairs of rows.
void pair_rows(const bf16* from, int padded, bf16* to) {
    for (int r = 0; r < padded; r += 2)
        for (int d = 0; d < D; d += 16) {
            const __m512i low = _mm512_cvtepu16_epi32(_mm256_load_si256((const __m256i*)(from + r * D + d)));
            const __m512i high = _mm512_cvtepu16_epi32(_mm256_load_si256((const __m256i*)(from + (r + 1) * D + d)));
            _mm512_store_si512(to + r * D + 2 * d, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
        }
}

// [padded, 64] -> [64, padded].
void transpose_rows(const bf16* from, int padded, bf16* to) {
    const __m512i step = _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                                            _mm512_set1_epi32(D / 2));
    const auto* in = reinterpret_cast<const int32_t*>(from);
    for (int r = 0; r < padded; r += 16)
        for (int pair = 0; pair < D / 2; ++pair) {
            const __m512i both = _mm512_i32gather_epi32(step, in + size_t(r) * (D / 2) + pair, 4);
            _mm256_store_si256((__m256i*)(to + size_t(2 * pair) * padded + r), _mm512_cvtepi32_epi16(both));
            _mm256_store_si256((__m256i*)(to + size_t(2 * pair + 1) * padded + r),
                               _mm512_cvtepi32_epi16(_mm512_srli_epi32(both, 16)));
        }
}

// Columns of [64, stride] (float32) -> rows of bf16, each times its factor.
void untranspose(const float* from, int64_t stride, int rows, const float* factor, float common, bf16* to,
                 int64_t to_stride) {
    const __m512i step = _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                                            _mm512_set1_epi32(int(stride)));
    for (int r = 0; r < rows; ++r) {
        const __m512 by = _mm512_set1_ps(factor ? factor[r] * common : common);
        for (int d = 0; d < D; d += 16) {
            const __m512 value = _mm512_i32gather_ps(step, from + d * stride + r, 4);
            _mm256_storeu_si256((__m256i*)(to + r * to_stride + d), (__m256i)_mm512_cvtneps_pbh(_mm512_mul_ps(value, by)));
        }
    }
}

// out [32, 32] (float32) = first [32, steps * 32] . second [steps * 32, 32], or += it; second in pairs of rows.
// Strides in elements.
template <bool Add>
inline void product(const bf16* first, int64_t first_stride, const bf16* second, int64_t second_stride, float* out,
                    int64_t out_stride, int steps) {
    float* below = out + 16 * out_stride;
    if constexpr (Add) {
        _tile_loadd(0, out, out_stride * 4);
        _tile_loadd(1, out + 16, out_stride * 4);
        _tile_loadd(2, below, out_stride * 4);
        _tile_loadd(3, below + 16, out_stride * 4);
    } else {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    }
    for (int s = 0; s < steps; ++s) {
        _tile_loadd(4, first + s * 32, first_stride * 2);
        _tile_loadd(6, second + s * 16 * second_stride, second_stride * 2);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(7, second + s * 16 * second_stride + 32, second_stride * 2);
        _tile_dpbf16ps(1, 4, 7);
        _tile_loadd(5, first + 16 * first_stride + s * 32, first_stride * 2);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, out, out_stride * 4);
    _tile_stored(1, out + 16, out_stride * 4);
    _tile_stored(2, below, out_stride * 4);
    _tile_stored(3, below + 16, out_stride * 4);
}

// 32 keys x 32 queries of first . second^T: rows of `first` [.., 64] from `key`, columns of the paired `second`.
inline void scores(const bf16* first, int key, const bf16* second, int padded, int query, float* out, int out_stride) {
    product<false>(first + key * D, D, second + 2 * query, 2 * padded, out, out_stride, D / 32);
}

// out [rows, columns] += first . second, as `product` has them; rows and columns are multiples of 32.
inline void accumulate(const bf16* first, int64_t first_stride, const bf16* second, int64_t second_stride, float* out,
                       int64_t out_stride, int rows, int columns, int steps) {
    for (int r = 0; r < rows; r += 32)
        for (int c = 0; c < columns; c += 32)
            product<true>(first + r * first_stride, first_stride, second + 2 * c, second_stride,
                          out + r * out_stride + c, out_stride, steps);
}

// Lanes whose query may not see this key.
inline __mmask16 hidden(int key, int query, int tokens, bool causal) {
    if (key >= tokens) return 0xffff;
    if (!causal || query >= key) return 0;
    return key - query >= 16 ? 0xffff : __mmask16((1u << (key - query)) - 1);
}

struct Work {
    Buffer<bf16> k, v, q, g, v_columns, k_columns, q_pairs, g_pairs, q_rows, g_rows, p, ds, ds_pairs, p_pairs;
    Buffer<float> s, dp, out, dq, dk, dv, delta, lse;
};
thread_local Work work;

}  // namespace

struct Tensor {
    bf16* data;
    int64_t batch, head, row;  // strides in elements
    bf16* at(int b, int h) const { return data + b * batch + h * head; }
};

extern "C" {

int attention_ready() {
    constexpr int ARCH_REQ_XCOMP_PERM = 0x1023, TILE_DATA = 18;
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, TILE_DATA) == 0;
}

// lse: float32 [batch, heads, padded tokens], log2 of the sum of exp; padded = tokens rounded up to 32.
void attention_forward(const Tensor* query, const Tensor* key, const Tensor* value, const Tensor* output, float* lse,
                       int batch, int heads, int groups, int tokens, int causal) {
    Tiles tiles;
    const int padded = (tokens + UNIT - 1) / UNIT * UNIT;
    const float scale = LOG2E / std::sqrt(float(D));
    bf16* k = work.k.get(size_t(padded) * D);
    bf16* v = work.v.get(size_t(padded) * D);
    bf16* v_columns = work.v_columns.get(size_t(padded) * D);
    bf16* q = work.q.get(size_t(padded) * D);
    bf16* q_pairs = work.q_pairs.get(size_t(padded) * D);
    float* s = work.s.get(size_t(padded) * UNIT);
    bf16* p_pairs = work.p_pairs.get(size_t(padded) * UNIT);
    float* out = work.out.get(size_t(D) * UNIT);
    for (int b = 0; b < batch; ++b)
        for (int g = 0; g < groups; ++g) {
            copy_rows(key->at(b, g), key->row, tokens, padded, k);
            copy_rows(value->at(b, g), value->row, tokens, padded, v);
            transpose_rows(v, padded, v_columns);
            for (int h = g * (heads / groups); h < (g + 1) * (heads / groups); ++h) {
                copy_rows(query->at(b, h), query->row, tokens, padded, q);
                pair_dimensions(q, padded, q_pairs);
                float* sums = lse + (size_t(b) * heads + h) * padded;
                for (int first = 0; first < padded; first += UNIT) {
                    const int end = causal ? first + UNIT : padded;
                    for (int row = 0; row < end; row += UNIT)
                        scores(k, row, q_pairs, padded, first, s + size_t(row) * UNIT, UNIT);
                    alignas(64) float factor[UNIT];
                    for (int lane = 0; lane < UNIT; lane += 16) {
                        __m512 top = _mm512_set1_ps(-3e38f);
                        for (int row = 0; row < end; ++row) {
                            float* place = s + size_t(row) * UNIT + lane;
                            __m512 x = _mm512_mul_ps(_mm512_load_ps(place), _mm512_set1_ps(scale));
                            const __mmask16 mask = hidden(row, first + lane, tokens, causal);
                            if (mask) x = _mm512_mask_mov_ps(x, mask, _mm512_set1_ps(-3e38f));
                            top = _mm512_max_ps(top, x);
                            _mm512_store_ps(place, x);
                        }
                        __m512 sum = _mm512_setzero_ps();
                        for (int row = 0; row < end; row += 2) {
                            const float* place = s + size_t(row) * UNIT + lane;
                            __m512 even = exp2_vector(_mm512_sub_ps(_mm512_load_ps(place), top));
                            __m512 odd = exp2_vector(_mm512_sub_ps(_mm512_load_ps(place + UNIT), top));
                            if (row + 2 > tokens || causal) {  // exp2 is bounded below, and 0 is wanted
                                even = _mm512_mask_mov_ps(even, hidden(row, first + lane, tokens, causal),
                                                          _mm512_setzero_ps());
                                odd = _mm512_mask_mov_ps(odd, hidden(row + 1, first + lane, tokens, causal),
                                                         _mm512_setzero_ps());
                            }
                            sum = _mm512_add_ps(sum, _mm512_add_ps(even, odd));
                            _mm512_store_si512(p_pairs + size_t(row) * UNIT + 2 * lane, interleave(even, odd));
                        }
                        _mm512_store_ps(factor + lane, _mm512_div_ps(_mm512_set1_ps(1.0f), sum));
                        alignas(64) float total[16], most[16];
                        _mm512_store_ps(total, sum);
                        _mm512_store_ps(most, top);
                        for (int i = 0; i < 16; ++i) sums[first + lane + i] = most[i] + std::log2(total[i]);
                    }
                    std::memset(out, 0, sizeof(float) * D * UNIT);
                    accumulate(v_columns, padded, p_pairs, 2 * UNIT, out, UNIT, D, UNIT, end / UNIT);
                    const int rows = std::min(UNIT, tokens - first);
                    untranspose(out, UNIT, rows, factor, 1.0f, output->at(b, h) + first * output->row, output->row);
                }
            }
        }
}

// Gradients of query, key and value from that of the output; key's and value's add up over a group's heads.
void attention_backward(const Tensor* query, const Tensor* key, const Tensor* value, const Tensor* output,
                        const Tensor* gradient, const float* lse, const Tensor* query_gradient,
                        const Tensor* key_gradient, const Tensor* value_gradient, int batch, int heads, int groups,
                        int tokens, int causal) {
    Tiles tiles;
    const int padded = (tokens + UNIT - 1) / UNIT * UNIT;
    const size_t all = size_t(padded) * D;
    const float scale = 1.0f / std::sqrt(float(D));
    bf16 *k = work.k.get(all), *v = work.v.get(all), *q = work.q.get(all), *g = work.g.get(all);
    bf16 *k_columns = work.k_columns.get(all), *q_pairs = work.q_pairs.get(all), *g_pairs = work.g_pairs.get(all);
    bf16 *q_rows = work.q_rows.get(all), *g_rows = work.g_rows.get(all);
    float *dq = work.dq.get(all), *dk = work.dk.get(all), *dv = work.dv.get(all), *delta = work.delta.get(padded);
    bf16 *p = work.p.get(BLOCK * BLOCK), *ds = work.ds.get(BLOCK * BLOCK), *ds_pairs = work.ds_pairs.get(BLOCK * BLOCK);
    float *s = work.s.get(std::max<size_t>(size_t(padded) * UNIT, UNIT * UNIT)), *dp = work.dp.get(UNIT * UNIT);
    for (int b = 0; b < batch; ++b)
        for (int group = 0; group < groups; ++group) {
            copy_rows(key->at(b, group), key->row, tokens, padded, k);
            copy_rows(value->at(b, group), value->row, tokens, padded, v);
            transpose_rows(k, padded, k_columns);
            std::memset(dk, 0, all * sizeof(float));
            std::memset(dv, 0, all * sizeof(float));
            for (int h = group * (heads / groups); h < (group + 1) * (heads / groups); ++h) {
                copy_rows(query->at(b, h), query->row, tokens, padded, q);
                copy_rows(gradient->at(b, h), gradient->row, tokens, padded, g);
                pair_dimensions(q, padded, q_pairs);
                pair_dimensions(g, padded, g_pairs);
                pair_rows(q, padded, q_rows);
                pair_rows(g, padded, g_rows);
                std::memset(dq, 0, all * sizeof(float));
                std::memset(delta, 0, padded * sizeof(float));
                const float* sums = lse + (size_t(b) * heads + h) * padded;
                for (int row = 0; row < tokens; ++row) {
                    const bf16* o = output->at(b, h) + row * output->row;
                    __m512 sum = _mm512_setzero_ps();
                    for (int d = 0; d < D; d += 16) {
                        const __m512i x = _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)(o + d))), 16);
                        const __m512i y = _mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_load_si256((const __m256i*)(g + row * D + d))), 16);
                        sum = _mm512_fmadd_ps(_mm512_castsi512_ps(x), _mm512_castsi512_ps(y), sum);
                    }
                    delta[row] = _mm512_reduce_add_ps(sum);
                }
                for (int k0 = 0; k0 < padded; k0 += BLOCK) {
                    const int keys = std::min(BLOCK, padded - k0);
                    for (int q0 = causal ? k0 : 0; q0 < padded; q0 += BLOCK) {
                        const int queries = std::min(BLOCK, padded - q0);
                        for (int kk = 0; kk < keys; kk += UNIT)
                            for (int qq = 0; qq < queries; qq += UNIT) {
                                scores(k, k0 + kk, q_pairs, padded, q0 + qq, s, UNIT);
                                scores(v, k0 + kk, g_pairs, padded, q0 + qq, dp, UNIT);
                                const bool edge = k0 + kk + UNIT > tokens || (causal && k0 + kk + UNIT > q0 + qq);
                                for (int lane = 0; lane < UNIT; lane += 16) {
                                    const int lanes = q0 + qq + lane;
                                    const __m512 level = _mm512_load_ps(sums + lanes);
                                    const __m512 less = _mm512_load_ps(delta + lanes);
                                    for (int row = 0; row < UNIT; row += 2) {
                                        __m512 part[2], grown[2];
                                        for (int i = 0; i < 2; ++i) {
                                            const float* place = s + (row + i) * UNIT + lane;
                                            __m512 x = exp2_vector(_mm512_fmsub_ps(
                                                _mm512_load_ps(place), _mm512_set1_ps(scale * LOG2E), level));
                                            if (edge)
                                                x = _mm512_mask_mov_ps(x, hidden(k0 + kk + row + i, lanes, tokens, causal),
                                                                       _mm512_setzero_ps());
                                            part[i] = x;
                                            grown[i] = _mm512_mul_ps(
                                                x, _mm512_sub_ps(_mm512_load_ps(dp + (row + i) * UNIT + lane), less));
                                            const size_t to = size_t(kk + row + i) * BLOCK + qq + lane;
                                            _mm256_store_si256((__m256i*)(p + to), (__m256i)_mm512_cvtneps_pbh(x));
                                            _mm256_store_si256((__m256i*)(ds + to), (__m256i)_mm512_cvtneps_pbh(grown[i]));
                                        }
                                        _mm512_store_si512(ds_pairs + size_t(kk + row) * BLOCK + 2 * (qq + lane),
                                                           interleave(grown[0], grown[1]));
                                    }
                                }
                            }
                        accumulate(p, BLOCK, g_rows + size_t(q0) * D, 2 * D, dv + size_t(k0) * D, D, keys, D, queries / 32);
                        accumulate(ds, BLOCK, q_rows + size_t(q0) * D, 2 * D, dk + size_t(k0) * D, D, keys, D, queries / 32);
                        accumulate(k_columns + k0, padded, ds_pairs, 2 * BLOCK, dq + q0, padded, D, queries, keys / 32);
                    }
                }
                untranspose(dq, padded, tokens, nullptr, scale, query_gradient->at(b, h), query_gradient->row);
            }
            const __m512 by = _mm512_set1_ps(scale);
            for (int row = 0; row < tokens; ++row)
                for (int d = 0; d < D; d += 16) {
                    const __m512 of_key = _mm512_mul_ps(_mm512_load_ps(dk + size_t(row) * D + d), by);
                    _mm256_storeu_si256((__m256i*)(key_gradient->at(b, group) + row * key_gradient->row + d),
                                        (__m256i)_mm512_cvtneps_pbh(of_key));
                    _mm256_storeu_si256((__m256i*)(value_gradient->at(b, group) + row * value_gradient->row + d),
                                        (__m256i)_mm512_cvtneps_pbh(_mm512_load_ps(dv + size_t(row) * D + d)));
                }
        }
}
}
