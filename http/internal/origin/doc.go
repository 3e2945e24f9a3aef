// Package origin restricts requests from web pages by the origin of the page.
//
//	Allowed  origins whose pages may read responses and act like the server's own (CORS)
//
// Browsers send client certificates for any page and let any page open WebSockets, so a malicious
// page could act as its viewer. The headers Origin and Sec-Fetch-Site identify requests from other
// origins. Clients other than browsers send neither.
package origin
