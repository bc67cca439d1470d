// Rectangles of a frame: fills, glyphs and rounded rectangles, one instance each.

// The values that all instances of a draw call share. The draw call draws a row, or anything on the whole surface.
struct Draw {
    // The origin of the instances' positions, in pixels.
    origin: vec2<i32>,
    // The size of the surface.
    surface: vec2<i32>,
    // The area to which drawing is clipped: left, top, right, bottom.
    clip: vec4<i32>,
}

@group(0) @binding(0) var<uniform> draw: Draw;
@group(1) @binding(0) var masks: texture_2d<f32>;
@group(1) @binding(1) var colors: texture_2d<f32>;

// Whether colors are blended as light. The picture's format then converts the result to sRGB.
override LINEAR: bool = false;

struct Instance {
    @location(0) place: vec2<i32>,
    @location(1) size: vec2<u32>,
    @location(2) texel: vec2<u32>,
    @location(3) color: vec4<f32>,
    @location(4) radius: f32,
    // The background color behind a mask glyph.
    @location(5) background: vec4<f32>,
}

struct Corner {
    @builtin(position) position: vec4<f32>,
    @location(0) texel: vec2<f32>,
    // The position relative to the center of the rectangle, in pixels.
    @location(1) local: vec2<f32>,
    @location(2) @interpolate(flat) half_size: vec2<f32>,
    @location(3) @interpolate(flat) color: vec4<f32>,
    @location(4) @interpolate(flat) radius: f32,
    // The luminance of a mask glyph, and the luminance of its background.
    @location(5) @interpolate(flat) lightness: vec2<f32>,
}

// Converts sRGB to linear light (IEC 61966-2-1). `to_coded` converts back.
fn to_light(c: vec3<f32>) -> vec3<f32> {
    return select(pow((c + 0.055) / 1.055, vec3<f32>(2.4)), c / 12.92, c <= vec3<f32>(0.04045));
}

fn to_coded(l: f32) -> f32 {
    return select(1.055 * pow(l, 1.0 / 2.4) - 0.055, l * 12.92, l <= 0.0031308);
}

fn luminance(light: vec3<f32>) -> f32 {
    return dot(light, vec3<f32>(0.2126, 0.7152, 0.0722));
}

// The coverage that, blended as light, looks as bold as `coverage` blended as coded values. `blend.rs` contains the
// same function.
fn corrected(coverage: f32, lightness: vec2<f32>) -> f32 {
    let above = lightness.x;
    let below = lightness.y;
    if abs(above - below) <= 0.001 {
        return coverage;
    }
    let mixed = to_coded(above) * coverage + to_coded(below) * (1.0 - coverage);
    return clamp((to_light(vec3<f32>(mixed)).x - below) / (above - below), 0.0, 1.0);
}

@vertex
fn corner(@builtin(vertex_index) vertex: u32, instance: Instance) -> Corner {
    let low = draw.origin + instance.place;
    let high = low + vec2<i32>(instance.size);
    let from_ = max(low, draw.clip.xy);
    let to = max(min(high, draw.clip.zw), from_);
    let right = (vertex & 1u) != 0u;
    let bottom = (vertex & 2u) != 0u;
    let pixel = vec2<i32>(select(from_.x, to.x, right), select(from_.y, to.y, bottom));

    var out: Corner;
    let unit = vec2<f32>(pixel) / vec2<f32>(draw.surface);
    out.position = vec4<f32>(unit.x * 2.0 - 1.0, 1.0 - unit.y * 2.0, 0.0, 1.0);
    out.texel = vec2<f32>(vec2<i32>(instance.texel) + pixel - low);
    out.half_size = vec2<f32>(instance.size) * 0.5;
    out.local = vec2<f32>(pixel - low) - out.half_size;
    out.color = instance.color;
    out.lightness = vec2<f32>(0.0);
    if LINEAR {
        out.color = vec4<f32>(to_light(instance.color.rgb), instance.color.a);
        let below = to_light(instance.background.rgb);
        out.lightness = vec2<f32>(luminance(out.color.rgb), luminance(below));
    }
    out.radius = instance.radius;
    return out;
}

// Each kind of rectangle has its own entry point, because an emulated GPU would execute all sides of a branch.

@fragment
fn fill(in: Corner) -> @location(0) vec4<f32> {
    return in.color;
}

// Each pixel reads one texel: the center of a pixel is the center of a texel.

@fragment
fn mask(in: Corner) -> @location(0) vec4<f32> {
    var coverage = textureLoad(masks, vec2<i32>(floor(in.texel)), 0).r;
    if LINEAR {
        coverage = corrected(coverage, in.lightness);
    }
    return vec4<f32>(in.color.rgb, in.color.a * coverage);
}

@fragment
fn picture(in: Corner) -> @location(0) vec4<f32> {
    var color = textureLoad(colors, vec2<i32>(floor(in.texel)), 0);
    if LINEAR {
        color = vec4<f32>(to_light(color.rgb), color.a);
    }
    return vec4<f32>(color.rgb, color.a * in.color.a);
}

@fragment
fn rounded(in: Corner) -> @location(0) vec4<f32> {
    // The distance of the pixel's center from the edge of the rounded rectangle.
    let radius = min(in.radius, min(in.half_size.x, in.half_size.y));
    let q = abs(in.local) - in.half_size + vec2<f32>(radius);
    let distance = length(max(q, vec2<f32>(0.0))) + min(max(q.x, q.y), 0.0) - radius;
    let coverage = select(clamp(0.5 - distance, 0.0, 1.0), 1.0, radius <= 0.0);
    return vec4<f32>(in.color.rgb, in.color.a * coverage);
}
