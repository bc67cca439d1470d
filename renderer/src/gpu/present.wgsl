// Copies the finished picture to a surface that can only be drawn to.

@group(0) @binding(0) var picture: texture_2d<f32>;

// The surface turns linear light into sRGB by itself, so sRGB has to be made linear first.
override LINEAR: bool = false;

@vertex
fn corner(@builtin(vertex_index) vertex: u32) -> @builtin(position) vec4<f32> {
    let at = vec2<f32>(f32(vertex & 1u) * 4.0 - 1.0, f32(vertex >> 1u) * 4.0 - 1.0);
    return vec4<f32>(at, 0.0, 1.0);
}

fn linear(c: vec3<f32>) -> vec3<f32> {
    return select(pow((c + 0.055) / 1.055, vec3<f32>(2.4)), c / 12.92, c <= vec3<f32>(0.04045));
}

@fragment
fn pixel(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
    let color = textureLoad(picture, vec2<i32>(at.xy), 0);
    if LINEAR {
        return vec4<f32>(linear(color.rgb), color.a);
    }
    return color;
}
