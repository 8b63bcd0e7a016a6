// Pictures, documents and sounds on their way into a request. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tug/core/message.h"
#include "tug/core/wire_profile.h"
#include "tug/model/profile.h"

namespace tug {

// Bits of WireProfile::flags for what is no picture.
inline constexpr std::uint32_t kTakesDocuments = 1;
inline constexpr std::uint32_t kTakesAudio = 2;
inline constexpr std::uint32_t kTakesVideo = 4;

bool takes_images(const ModelProfile& profile) noexcept;
std::uint32_t media_flags(const ModelProfile& profile) noexcept;

enum class MediaKind : std::uint8_t { image, document, audio, video, text, other };

// What is sent of a media part. At most one of `base64`, `url` and `text` is not empty; none when
// its bytes are not at hand.
struct WireMedia {
  MediaKind kind = MediaKind::other;
  std::string mime;
  std::string base64;
  std::string url;
  std::string text;  // of a text file: name and content
};
// Addresses of the form data:..;base64,.. are taken apart.
WireMedia wire_media(const MediaPart& part);

// Can a request of this profile carry it?
bool takes(const WireProfile& profile, const WireMedia& media) noexcept;

// The line that stands for it where it cannot be sent: "[image/png shot.png: not at hand]".
std::string media_line(const MediaPart& part);

}  // namespace tug
