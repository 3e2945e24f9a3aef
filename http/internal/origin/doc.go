// Package origin decides what web pages may do, by their origin.
//
//	Allowed  origins whose pages may read responses and act like the server's own (CORS)
//
// Browsers send client certificates for any page, and let any page open WebSockets. So that a page
// cannot act as its viewer, requests from other origins are recognized by Origin and
// Sec-Fetch-Site. Other clients send neither.
package origin
