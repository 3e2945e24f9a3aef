// Package origin restricts requests from web pages by page origin.
//
//	Allowed  origins whose pages may read responses and act like the server's own (CORS)
//
// Browsers send client certificates for any page and let any page open WebSockets, so a malicious
// page could act as the user. The Origin and Sec-Fetch-Site headers identify requests from other
// origins. Clients other than browsers send neither.
package origin
