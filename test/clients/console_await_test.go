//go:build chromium

package clients

import cdpruntime "github.com/chromedp/cdproto/runtime"

// awaitPromise waits for the value that a script promises.
func awaitPromise(p *cdpruntime.EvaluateParams) *cdpruntime.EvaluateParams {
	return p.WithAwaitPromise(true)
}
