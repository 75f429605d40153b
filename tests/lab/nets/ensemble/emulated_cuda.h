// Enough of CUDA to run a kernel on a CPU, in double precision: every thread of a block is a thread, blocks take turns.
#include <barrier>
#include <cmath>
#include <memory>
#include <thread>
#include <vector>

#define float double
#define fabsf std::fabs
#define expf std::exp
#define log1pf std::log1p
#define __device__
#define __global__
#define __shared__
#define __launch_bounds__(threads, blocks)

struct float4 { double x, y, z, w; };
struct Index { unsigned x; };
static thread_local Index threadIdx, blockIdx;
static std::unique_ptr<std::barrier<>> block_barrier, warp_barriers[WARPS];
static double exchanged[32 * WARPS];
static float4 space[1 << 14];

static void __syncthreads() { block_barrier->arrive_and_wait(); }
static void __syncwarp() { warp_barriers[threadIdx.x / 32]->arrive_and_wait(); }
static double __shfl_xor_sync(unsigned, double value, int offset) {
    exchanged[threadIdx.x] = value;
    __syncwarp();
    const double found = exchanged[threadIdx.x ^ offset];
    __syncwarp();
    return found;
}

template <class Function>
static void run_blocks(int blocks, Function function) {
    block_barrier = std::make_unique<std::barrier<>>(32 * WARPS);
    for (auto& one : warp_barriers) one = std::make_unique<std::barrier<>>(32);
    for (unsigned block = 0; block < (unsigned)blocks; ++block) {
        std::vector<std::thread> team;
        for (unsigned thread = 0; thread < 32 * WARPS; ++thread)
            team.emplace_back([=] {
                threadIdx.x = thread;
                blockIdx.x = block;
                function();
            });
        for (auto& one : team) one.join();
    }
}

#include KERNEL

extern "C" void run(int blocks, void** p, const int* n, const double* s) {
    const Setting set = {n[0], n[1], n[2], n[3], n[4], n[5], s[0], s[1], s[2]};
    run_blocks(blocks, [=] {
        train((double*)p[0], (double*)p[1], (double*)p[2], (double*)p[3], (double*)p[4], (double*)p[5], (double*)p[6],
              (double*)p[7], (double*)p[8], (double*)p[9], (bool*)p[10], (double*)p[11], (double*)p[12],
              (long long*)p[13], set);
    });
}
