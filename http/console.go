package http

import (
	"io"
	nethttp "net/http"
	"strings"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/console"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/response"
)

// ConsoleOptions configures the web console.
type ConsoleOptions struct {
	// SignIn returns the provider where users sign in. If SignIn is nil or returns nil, users must
	// enter a token.
	SignIn func() *ConsoleSignIn
}

// A ConsoleSignIn is an OpenID Connect provider that signs users in.
type ConsoleSignIn = console.SignIn

// serveConsole serves the files of the console, which are authorized like any non-resource path.
func (s *Server) serveConsole(pages *console.Console) func(*requestContext) error {
	return func(x *requestContext) error {
		if x.info.Path == consolePath && !x.target.TrailingSlash {
			x.setHeader("Location", consolePath+"/") // the page's links are relative to this path
			x.ctx.SetStatusCode(nethttp.StatusMovedPermanently)
			return nil
		}
		x.setHeader("Content-Security-Policy", pages.SecurityPolicy())
		x.setHeader("X-Content-Type-Options", "nosniff")
		x.setHeader("Referrer-Policy", "no-referrer")
		x.setHeader("Cross-Origin-Opener-Policy", "same-origin")
		x.setHeader("Cross-Origin-Resource-Policy", "same-origin")
		if x.info.Path == consoleConfigPath {
			config, err := pages.Config()
			if err != nil {
				return err
			}
			s.writeRaw(x, negotiate.TypeJSON, config)
			return nil
		}
		file := pages.File(strings.Trim(strings.TrimPrefix(x.info.Path, consolePath), "/"))
		if file == nil {
			return apierrors.PathNotFound()
		}
		return s.writeConsoleFile(x, file)
	}
}

func (s *Server) writeConsoleFile(x *requestContext, file *console.File) error {
	x.setHeader("Vary", "Accept-Encoding")
	if x.notModified(file.Hash) {
		return nil
	}
	body := file.Body
	if s.acceptsGzip(x) {
		x.setHeader("Content-Encoding", "gzip")
		body = file.Gzip
	}
	if err := s.reserveResponse(x, response.Overhead); err != nil {
		return err
	}
	s.setBodyStream(x, file.ContentType, &response.Stream{Size: len(body), Grace: s.opts.Limits.WriteTimeout, Write: func(w io.Writer) error {
		_, err := w.Write(body)
		return err
	}})
	return nil
}
