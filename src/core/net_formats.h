// Names and addresses: mail, hosts, IP, URI and URI templates.
#pragma once

#include <string_view>

namespace tug::detail {

bool is_email(std::string_view text);      // RFC 5321, quoted local parts and address literals too
bool is_idn_email(std::string_view text);  // the same with any letters
bool is_hostname(std::string_view text);   // RFC 1123; "xn--" labels must decode
bool is_idn_hostname(std::string_view text);
bool is_ipv4(std::string_view text);
bool is_ipv6(std::string_view text);
bool is_uri(std::string_view text);  // RFC 3986, with a scheme
bool is_uri_reference(std::string_view text);
bool is_iri(std::string_view text);  // RFC 3987
bool is_iri_reference(std::string_view text);
bool is_uri_template(std::string_view text);  // RFC 6570

}  // namespace tug::detail
