package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/persist"
)

// A remote is a running daemon and who asks it.
type remote struct {
	server string // URL
	client *http.Client
}

// clientConfig is what is read of a client configuration file.
type clientConfig struct {
	CurrentContext string `json:"current-context"`
	Contexts       []struct {
		Name    string `json:"name"`
		Context struct {
			Cluster string `json:"cluster"`
			User    string `json:"user"`
		} `json:"context"`
	} `json:"contexts"`
	Clusters []struct {
		Name    string `json:"name"`
		Cluster struct {
			Server string `json:"server"`
			CA     string `json:"certificate-authority-data"`
		} `json:"cluster"`
	} `json:"clusters"`
	Users []struct {
		Name string `json:"name"`
		User struct {
			Certificate string `json:"client-certificate-data"`
			Key         string `json:"client-key-data"`
		} `json:"user"`
	} `json:"users"`
}

// readRemote reads the current context of the client configuration at path.
func readRemote(path string) (*remote, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var c clientConfig
	if err := yaml.Unmarshal(text, &c); err != nil {
		return nil, errors.New(path + " is no client configuration") // the parser's text could hold a key
	}
	r, err := c.remote()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func (c *clientConfig) remote() (*remote, error) {
	var cluster, user, ca, certificate, key string
	r := &remote{}
	for _, x := range c.Contexts {
		if x.Name == c.CurrentContext {
			cluster, user = x.Context.Cluster, x.Context.User
		}
	}
	for _, x := range c.Clusters {
		if x.Name == cluster {
			r.server, ca = strings.TrimSuffix(x.Cluster.Server, "/"), x.Cluster.CA
		}
	}
	for _, x := range c.Users {
		if x.Name == user {
			certificate, key = x.User.Certificate, x.User.Key
		}
	}
	if !strings.HasPrefix(r.server, "https://") {
		return nil, fmt.Errorf("context %q names no https server", c.CurrentContext)
	}
	config, err := clientTLS(ca, certificate, key)
	if err != nil {
		return nil, err
	}
	r.client = &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableCompression: true, IdleConnTimeout: time.Second}}
	return r, nil
}

// clientTLS takes certificates and key as base64 of PEM.
func clientTLS(ca, certificate, key string) (*tls.Config, error) {
	var pems [3][]byte
	for i, text := range []string{ca, certificate, key} {
		pem, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(pem) == 0 {
			return nil, errors.New("certificate-authority-data, client-certificate-data and client-key-data must hold base64")
		}
		pems[i] = pem
	}
	pair, err := tls.X509KeyPair(pems[1], pems[2])
	if err != nil {
		return nil, fmt.Errorf("client-certificate-data: %w", err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, RootCAs: x509.NewCertPool()}
	if !config.RootCAs.AppendCertsFromPEM(pems[0]) {
		return nil, errors.New("certificate-authority-data holds no certificate")
	}
	return config, nil
}

// backup writes a backup of the daemon's state to w and checks that it is whole.
func (r *remote) backup(ctx context.Context, w io.Writer) (persist.Revision, error) {
	body, err := r.get(ctx, daemon.BackupPath)
	if err != nil {
		return 0, err
	}
	defer body.Close()
	return persist.CheckBackup(io.TeeReader(body, w))
}

// get opens the answer to a GET that must be welcome.
func (r *remote) get(ctx context.Context, path string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(cmp.Or(ctx, context.Background()), http.MethodGet, r.server+path, nil)
	if err != nil {
		return nil, err
	}
	answer, err := r.client.Do(request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		answer.Body.Close()
		return nil, fmt.Errorf("%s refused %s: %s", r.server, path, answer.Status)
	}
	return answer.Body, nil
}
