#include "model/wire_media.h"

#include <algorithm>
#include <optional>

#include "tug/core/base64.h"
#include "tug/core/utf8.h"

namespace tug {
namespace {

bool has(const ModelProfile& profile, Modality modality) noexcept {
  return std::ranges::find(profile.input, modality) != profile.input.end();
}

MediaKind kind_of(std::string_view mime) noexcept {
  if (mime.starts_with("image/")) return MediaKind::image;
  if (mime.starts_with("audio/")) return MediaKind::audio;
  if (mime.starts_with("video/")) return MediaKind::video;
  if (mime == "application/pdf") return MediaKind::document;
  if (mime.starts_with("text/") || mime == "application/json") return MediaKind::text;
  return MediaKind::other;
}

struct DataUrl {
  std::string_view mime;
  std::string_view base64;
};

std::optional<DataUrl> data_url(std::string_view url) noexcept {
  constexpr std::string_view kScheme = "data:";
  constexpr std::string_view kBase64 = ";base64";
  if (!url.starts_with(kScheme)) return std::nullopt;
  url.remove_prefix(kScheme.size());
  const std::size_t comma = url.find(',');
  if (comma == url.npos) return std::nullopt;
  std::string_view mime = url.substr(0, comma);
  if (!mime.ends_with(kBase64)) return std::nullopt;
  mime.remove_suffix(kBase64.size());
  return DataUrl{mime.substr(0, mime.find(';')), url.substr(comma + 1)};
}

}  // namespace

bool takes_images(const ModelProfile& profile) noexcept {
  return profile.vision || has(profile, Modality::image);
}

std::uint32_t media_flags(const ModelProfile& profile) noexcept {
  std::uint32_t flags = 0;
  if (has(profile, Modality::document)) flags |= kTakesDocuments;
  if (has(profile, Modality::audio)) flags |= kTakesAudio;
  if (has(profile, Modality::video)) flags |= kTakesVideo;
  return flags;
}

WireMedia wire_media(const MediaPart& part) {
  WireMedia media{.kind = kind_of(part.mime), .mime = part.mime};
  if (part.bytes) {
    if (media.kind == MediaKind::text) {
      if (!part.name.empty()) media.text = part.name + ":\n";
      media.text += repair_utf8(*part.bytes);
    } else {
      media.base64 = to_base64(*part.bytes);
    }
  } else if (const std::optional<DataUrl> data = data_url(part.url)) {
    if (media.mime.empty()) media.mime = std::string(data->mime);
    media.kind = kind_of(media.mime);
    media.base64 = std::string(data->base64);
  } else if (!part.url.starts_with("data:")) {
    media.url = part.url;
  }
  return media;
}

bool takes(const WireProfile& profile, const WireMedia& media) noexcept {
  if (media.base64.empty() && media.url.empty()) return false;
  switch (media.kind) {
    case MediaKind::image:
      return profile.images;
    case MediaKind::document:
      return (profile.flags & kTakesDocuments) != 0;
    case MediaKind::audio:
      return (profile.flags & kTakesAudio) != 0;
    case MediaKind::video:
      return (profile.flags & kTakesVideo) != 0;
    case MediaKind::text:
    case MediaKind::other:
      return false;
  }
  return false;
}

std::string media_line(const MediaPart& part) {
  std::string line = "[" + (part.mime.empty() ? std::string("file") : part.mime);
  if (!part.name.empty()) line += " " + part.name;
  if (!part.url.empty() && !part.url.starts_with("data:")) line += " " + part.url;
  const bool at_hand = part.bytes || !part.url.empty();
  return line + (at_hand ? ": not sent, this model does not take it]" : ": not at hand]");
}

}  // namespace tug
