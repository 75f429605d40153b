// Many steps of full-batch gradient descent of one-hidden-layer ReLU networks, their weights in registers throughout.
//
// A thread owns UNITS hidden units of one network and every PARTS-th sample; PARTS neighbouring lanes share units, and
// CLUSTER blocks share a network. With z = W x + a, f = v relu(z) + b, and the slope r of the loss in f,
//     G = sum over active samples of r x,  Ga = the same of r,  dW = v G,  da = v Ga,  dv = W.G + a Ga,
// so a forward pass leaves one bit per unit and sample, and nothing else, for the backward pass.
//
// Compiled for: INPUTS, UNITS, PARTS (a power of 2), GROUP (samples between two reductions: a power of 2, with
// UNITS * GROUP <= 32), WARPS, CLUSTER, BESIDE (blocks that share a multiprocessor), LOSS (0 mse, 1 squared-absolute,
// 2 logistic, 3 hinge), PLAIN (whether there is neither momentum nor weight decay).

constexpr int THREADS = 32 * WARPS, QUADS = (INPUTS + 3) / 4;
constexpr int ROW = 4 * (QUADS | 1);  // an odd number of quads keeps the rows of different parts in different banks
constexpr unsigned ALL = 0xffffffffu;

struct Setting {
    int networks, width, samples, steps, update, stopping;
    float momentum, weight_decay, absolute;
};

#if CLUSTER > 1
#define SPREAD __cluster_dims__(CLUSTER, 1, 1)
__device__ void meet() {
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ void put(float* place, float value) {  // into the same place of every block of the cluster
    unsigned here = (unsigned)__cvta_generic_to_shared(place), there;
    for (int rank = 0; rank < CLUSTER; ++rank) {
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(rank));
        asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(there), "f"(value) : "memory");
    }
}
#else
#define SPREAD
__device__ void meet() { __syncthreads(); }
__device__ void put(float* place, float value) { *place = value; }
#endif

__device__ float cost(float f, float y, float absolute) {
    if (LOSS == 0) return (f - y) * (f - y);
    if (LOSS == 1) return (f - y) * (f - y) + absolute * fabsf(f - y);
    if (LOSS == 2) return -f * y > 20 ? -f * y : log1pf(expf(-f * y));
    return 1 - f * y > 0 ? 1 - f * y : f * y != f * y ? f : 0;  // what is not a number stays so
}

__device__ float slope(float f, float y, float absolute) {
    if (LOSS == 0) return 2 * (f - y);
    if (LOSS == 1) return 2 * (f - y) + (f > y ? absolute : f < y ? -absolute : 0);
    if (LOSS == 2) return -y / (1 + expf(f * y));
    return f * y < 1 ? -y : 0;
}

// Add up values[GROUP] over the lanes that hold other units. Lanes halve the samples they go on with while they can:
// afterwards a lane's first GROUP * PARTS / 32 values (at least one) are whole sums; return the first one's sample.
__device__ int add_units(float* values, int lane) {
    int first = 0;
#pragma unroll
    for (int half = GROUP / 2, offset = PARTS; offset < 32; half /= 2, offset *= 2) {
        const bool upper = lane & offset;
        if (half == 0) values[0] += __shfl_xor_sync(ALL, values[0], offset);
        first += upper ? half : 0;
#pragma unroll
        for (int i = 0; i < half; ++i) {
            const float given = upper ? values[i] : values[i + half], kept = upper ? values[i + half] : values[i];
            values[i] = kept + __shfl_xor_sync(ALL, given, offset);
        }
    }
    return first;
}

__device__ float add_parts(float value) {
#pragma unroll
    for (int offset = 1; offset < PARTS; offset *= 2) value += __shfl_xor_sync(ALL, value, offset);
    return value;
}

// Update a parameter. All lanes that share it compute the same; one writes what the optimiser remembers, at >= 0.
__device__ void descend(float& parameter, float gradient, float pace, float* memory, int at, int part, Setting set) {
    if (!PLAIN) {
        gradient += set.weight_decay * parameter;
        gradient += at >= 0 ? set.momentum * memory[at] : 0;
        __syncwarp();
        if (at >= 0 && part == 0) memory[at] = gradient;
    }
    parameter -= pace * gradient;
}

// theta (INPUTS + 2, networks, width): input weights, their bias a, readout v; `memory` of the optimiser alike.
extern "C" __global__ void SPREAD __launch_bounds__(THREADS, BESIDE) train(
    float* theta, float* readout_bias, float* memory, float* bias_memory, const float* inputs, const float* targets,
    const float* weights, const float* rates, const float* shares, const float* thresholds, bool* active,
    float* latest, float* worst, long long* taken, Setting set) {
    const int network = blockIdx.x / CLUSTER, rank = blockIdx.x % CLUSTER;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, part = lane % PARTS;
    if (!active[network]) return;
    const int groups = (set.samples + GROUP * PARTS - 1) / (GROUP * PARTS), padded = groups * GROUP * PARTS;
    const int slopes_row = groups * GROUP + 4;

    extern __shared__ float4 space[];
    float* x = (float*)space;                              // (padded, ROW)
    float* slopes = x + padded * ROW;                      // (WARPS, PARTS, slopes_row), each warp its own
    float* y = slopes + WARPS * PARTS * slopes_row;        // (padded)
    float* counts = y + padded;                            // (padded)
    float* sums = counts + padded;                         // (2, CLUSTER * WARPS, padded)
    unsigned* bits = (unsigned*)(sums + 2 * CLUSTER * WARPS * padded);  // (groups, THREADS)
    for (int i = threadIdx.x; i < padded * ROW; i += THREADS) {
        const int row = i / ROW, column = i % ROW;
        x[i] = row < set.samples && column < INPUTS ? inputs[row * INPUTS + column] : 0;
    }
    for (int n = threadIdx.x; n < padded; n += THREADS) {
        y[n] = n < set.samples ? targets[network * set.samples + n] : 0;
        counts[n] = n < set.samples ? weights[network * set.samples + n] : 0;
    }

    const int stride = set.networks * set.width;
    const int unit = ((rank * WARPS + warp) * (32 / PARTS) + lane / PARTS) * UNITS;
    const int place = network * set.width + unit;
    float w[UNITS][INPUTS], a[UNITS], v[UNITS];
#pragma unroll
    for (int u = 0; u < UNITS; ++u) {
        const bool real = unit + u < set.width;
#pragma unroll
        for (int d = 0; d < INPUTS; ++d) w[u][d] = real ? theta[d * stride + place + u] : 0;
        a[u] = real ? theta[INPUTS * stride + place + u] : 0;
        v[u] = real ? theta[(INPUTS + 1) * stride + place + u] : 0;
    }
    float b = readout_bias[network], b_memory = PLAIN ? 0 : bias_memory[network];
    const float rate = rates[network], threshold = thresholds[network];
    float loss = latest[network], most = worst[network];
    bool going = true;
    int step = 0;
    meet();

    for (; step < set.steps; ++step) {
        float* mine = sums + (step % 2) * CLUSTER * WARPS * padded;
        for (int g = 0; g < groups; ++g) {
            float values[GROUP];
            unsigned on = 0;
#pragma unroll
            for (int i = 0; i < GROUP; ++i) {
                const float4* row = (const float4*)(x + ((g * GROUP + i) * PARTS + part) * ROW);
                float z[UNITS];
#pragma unroll
                for (int u = 0; u < UNITS; ++u) z[u] = a[u];
#pragma unroll
                for (int q = 0; q < QUADS; ++q) {
                    const float4 four = row[q];
#pragma unroll
                    for (int u = 0; u < UNITS; ++u) {
                        z[u] += w[u][4 * q] * four.x;
                        if (4 * q + 1 < INPUTS) z[u] += w[u][4 * q + 1] * four.y;
                        if (4 * q + 2 < INPUTS) z[u] += w[u][4 * q + 2] * four.z;
                        if (4 * q + 3 < INPUTS) z[u] += w[u][4 * q + 3] * four.w;
                    }
                }
                values[i] = 0;
#pragma unroll
                for (int u = 0; u < UNITS; ++u) {
                    values[i] += v[u] * (z[u] > 0 ? z[u] : z[u] != z[u] ? z[u] : 0);
                    on |= z[u] > 0 ? 1u << (u * GROUP + i) : 0;
                }
            }
            bits[g * THREADS + threadIdx.x] = on;
            const int first = add_units(values, lane);
            constexpr int LEFT = GROUP * PARTS > 32 ? GROUP * PARTS / 32 : 1;
            if (lane / PARTS < GROUP)
#pragma unroll
                for (int i = 0; i < LEFT; ++i)
                    put(mine + (rank * WARPS + warp) * padded + (g * GROUP + first + i) * PARTS + part, values[i]);
        }
        meet();

        // Every warp adds up the outputs for itself, in the same order, so that all agree without a second meeting.
        float* r = slopes + warp * PARTS * slopes_row;
        loss = 0;
        for (int n = lane; n < padded; n += 32) {
            float f = b;
            for (int k = 0; k < CLUSTER * WARPS; ++k) f += mine[k * padded + n];
            loss += counts[n] * cost(f, y[n], set.absolute);
            r[n % PARTS * slopes_row + n / PARTS] = counts[n] * slope(f, y[n], set.absolute);
        }
#pragma unroll
        for (int offset = 1; offset < 32; offset *= 2) loss += __shfl_xor_sync(ALL, loss, offset);
        __syncwarp();
        most = loss <= most || most != most ? most : loss;
        going = loss - loss == 0 && !(set.stopping && loss < threshold);
        if (!going || !set.update) break;

        float G[UNITS][INPUTS] = {}, Ga[UNITS] = {}, Gb = 0;
        for (int g = 0; g < groups; ++g) {
            const unsigned on = bits[g * THREADS + threadIdx.x];
#pragma unroll
            for (int i = 0; i < GROUP; ++i) {
                const float4* row = (const float4*)(x + ((g * GROUP + i) * PARTS + part) * ROW);
                const float residual = r[part * slopes_row + g * GROUP + i];
                float s[UNITS];
#pragma unroll
                for (int u = 0; u < UNITS; ++u) {
                    s[u] = on >> (u * GROUP + i) & 1 ? residual : 0;
                    Ga[u] += s[u];
                }
                Gb += residual;
#pragma unroll
                for (int q = 0; q < QUADS; ++q) {
                    const float4 four = row[q];
#pragma unroll
                    for (int u = 0; u < UNITS; ++u) {
                        G[u][4 * q] += s[u] * four.x;
                        if (4 * q + 1 < INPUTS) G[u][4 * q + 1] += s[u] * four.y;
                        if (4 * q + 2 < INPUTS) G[u][4 * q + 2] += s[u] * four.z;
                        if (4 * q + 3 < INPUTS) G[u][4 * q + 3] += s[u] * four.w;
                    }
                }
            }
        }

        // Sums over the parts come before anything uses them, so that they are under way together.
        Gb = add_parts(Gb);
#pragma unroll
        for (int u = 0; u < UNITS; ++u) {
            Ga[u] = add_parts(Ga[u]);
#pragma unroll
            for (int d = 0; d < INPUTS; ++d) G[u][d] = add_parts(G[u][d]);
        }
        const float pace = rate * shares[step];
#pragma unroll
        for (int u = 0; u < UNITS; ++u) {
            const float old = v[u];
            const int at = unit + u < set.width ? place + u : -1;
            float dv = a[u] * Ga[u];
#pragma unroll
            for (int d = 0; d < INPUTS; ++d) {
                dv += w[u][d] * G[u][d];
                descend(w[u][d], old * G[u][d], pace, memory + d * stride, at, part, set);
            }
            descend(a[u], old * Ga[u], pace, memory + INPUTS * stride, at, part, set);
            descend(v[u], dv, pace, memory + (INPUTS + 1) * stride, at, part, set);
        }
        b_memory = Gb + set.weight_decay * b + set.momentum * b_memory;
        b -= pace * b_memory;
    }

    meet();  // no block leaves while others may write into it
#pragma unroll
    for (int u = 0; u < UNITS; ++u) {
        if (part || unit + u >= set.width) continue;
#pragma unroll
        for (int d = 0; d < INPUTS; ++d) theta[d * stride + place + u] = w[u][d];
        theta[INPUTS * stride + place + u] = a[u];
        theta[(INPUTS + 1) * stride + place + u] = v[u];
    }
    if (rank == 0 && threadIdx.x == 0) {
        readout_bias[network] = b;
        if (!PLAIN) bias_memory[network] = b_memory;
        active[network] = going;
        latest[network] = loss;
        worst[network] = most;
        taken[network] += step;
    }
}
