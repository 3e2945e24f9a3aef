//go:build chromium

package clients

import cdpruntime "github.com/chromedp/cdproto/runtime"

func awaitPromise(p *cdpruntime.EvaluateParams) *cdpruntime.EvaluateParams {
	return p.WithAwaitPromise(true)
}
