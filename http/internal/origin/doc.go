// Package origin decides what web pages may do, by their origin.
//
//	Allowed  origins whose pages may read responses and act like the server's own (CORS)
//
// Browsers send client certificates for any page, and let any page open WebSockets. A malicious
// page could thus act as its viewer. The headers Origin and Sec-Fetch-Site identify requests from
// other origins. Clients other than browsers send neither.
package origin
