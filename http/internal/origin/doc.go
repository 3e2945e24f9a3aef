// Package origin says what pages in browsers may do, by the origin that a page comes from.
//
// Its nouns:
//
//	Allowed  the origins whose pages may read answers, and act like pages of the server's own (CORS)
//
// A browser sends client certificates whatever page it is that asks, and lets any page open a WebSocket. So that no
// page acts in the name of the person who looks at it, pages of other origins can be told from those of the server
// by what the browser says about them: Origin and Sec-Fetch-Site. Clients that are no browsers send neither.
package origin
