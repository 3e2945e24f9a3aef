package origin

import "github.com/valyala/fasthttp"

// Values of the CORS headers for allowed origins.
const (
	corsMethods = "POST, GET, OPTIONS, PUT, DELETE, PATCH"
	corsHeaders = "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since"
	corsExposed = "Date"
)

// SetHeaders sets CORS headers and returns true if the request's origin is allowed. Browsers hide
// responses without these headers from the page.
func (a Allowed) SetHeaders(request *fasthttp.RequestHeader, answer *fasthttp.ResponseHeader) (told bool) {
	if len(a) == 0 {
		return false
	}
	origin := request.Peek("Origin")
	if len(origin) == 0 || !a.Has(origin) {
		return false
	}
	answer.SetBytesV("Access-Control-Allow-Origin", origin)
	answer.Set("Access-Control-Allow-Methods", corsMethods)
	answer.Set("Access-Control-Allow-Headers", corsHeaders)
	answer.Set("Access-Control-Expose-Headers", corsExposed)
	answer.Set("Access-Control-Allow-Credentials", "true")
	return true
}
