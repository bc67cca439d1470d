// Copies the finished picture to a surface that can be drawn to but not copied to.

@group(0) @binding(0) var picture: texture_2d<f32>;

// 0: copy the values. 1: convert sRGB to linear light first, because the surface converts light to sRGB. 2: convert
// linear light to sRGB.
override CHANGE: u32 = 0u;

@vertex
fn corner(@builtin(vertex_index) vertex: u32) -> @builtin(position) vec4<f32> {
    let at = vec2<f32>(f32(vertex & 1u) * 4.0 - 1.0, f32(vertex >> 1u) * 4.0 - 1.0);
    return vec4<f32>(at, 0.0, 1.0);
}

fn linear(c: vec3<f32>) -> vec3<f32> {
    return select(pow((c + 0.055) / 1.055, vec3<f32>(2.4)), c / 12.92, c <= vec3<f32>(0.04045));
}

fn coded(l: vec3<f32>) -> vec3<f32> {
    return select(1.055 * pow(l, vec3<f32>(1.0 / 2.4)) - 0.055, l * 12.92, l <= vec3<f32>(0.0031308));
}

@fragment
fn pixel(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
    let color = textureLoad(picture, vec2<i32>(at.xy), 0);
    switch CHANGE {
        case 1u: {
            return vec4<f32>(linear(color.rgb), color.a);
        }
        case 2u: {
            return vec4<f32>(coded(color.rgb), color.a);
        }
        default: {
            return color;
        }
    }
}
