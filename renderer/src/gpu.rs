//! The painter on the GPU (wgpu).
