package kubeconfig

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
)

// execConfig is a user's exec field, which configures a credential plugin.
type execConfig struct {
	Command            string   `json:"command"`
	Args               []string `json:"args"`
	APIVersion         string   `json:"apiVersion"`
	InstallHint        string   `json:"installHint"`
	ProvideClusterInfo bool     `json:"provideClusterInfo"`
	InteractiveMode    string   `json:"interactiveMode"`
	Env                []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"env"`
}

const execGroup = "client.authentication.platform.io"

type plugin struct {
	execConfig
	path     string // path of the program, or a name to look up in PATH
	mode     string
	naming   *meta.Naming // naming profile of the apiVersion
	cluster  *execCluster // nil if the program does not receive it
	programs Programs
}

// newPlugin validates a user's exec field. Errors begin with the invalid field's name.
func newPlugin(u user, c *cluster, programs Programs) (*plugin, error) {
	e := *u.Exec
	p := &plugin{execConfig: e, path: e.Command, mode: e.InteractiveMode, programs: programs}
	if e.Command == "" {
		return nil, errors.New("command is required")
	}
	if strings.ContainsRune(e.Command, filepath.Separator) {
		p.path = u.dir.path(e.Command)
	}
	for i, one := range e.Env {
		if one.Name == "" {
			return nil, fmt.Errorf("env[%d].name is required", i)
		}
	}
	group, version, _ := strings.Cut(e.APIVersion, "/")
	for _, naming := range []*meta.Naming{meta.Platform, meta.Kubernetes} {
		if naming.Translate(execGroup) == group {
			p.naming = naming
		}
	}
	if p.naming == nil || version != "v1" && version != "v1beta1" {
		return nil, fmt.Errorf("apiVersion %q is not supported: it must be %[2]s/v1 or %[2]s/v1beta1", e.APIVersion, execGroup)
	}
	if p.mode == "" && version == "v1beta1" {
		p.mode = maybeInteractive
	}
	if modes := []string{neverInteractive, maybeInteractive, alwaysInteractive}; !slices.Contains(modes, p.mode) {
		if p.mode == "" {
			return nil, fmt.Errorf("interactiveMode is required in %s: %s", e.APIVersion, strings.Join(modes, ", "))
		}
		return nil, fmt.Errorf("interactiveMode %q is not supported: it must be one of %s", p.mode, strings.Join(modes, ", "))
	}
	if !e.ProvideClusterInfo {
		return p, nil
	}
	if c == nil {
		return nil, errors.New("provideClusterInfo requires a user of one cluster, but this one applies to any server")
	}
	var err error
	p.cluster, err = newExecCluster(*c, p.naming)
	return p, err
}

type execCluster struct {
	Server                   string          `json:"server"`
	ServerName               string          `json:"tls-server-name,omitempty"`
	Insecure                 bool            `json:"insecure-skip-tls-verify,omitempty"`
	CertificateAuthorityData []byte          `json:"certificate-authority-data,omitempty"`
	ProxyURL                 string          `json:"proxy-url,omitempty"`
	DisableCompression       bool            `json:"disable-compression,omitempty"`
	Config                   json.RawMessage `json:"config,omitempty"`
}

// newExecCluster encodes a cluster for plugins. It embeds the CA, so that plugins need no paths.
func newExecCluster(c cluster, naming *meta.Naming) (*execCluster, error) {
	authority, err := c.authority()
	if err != nil {
		return nil, fmt.Errorf("provideClusterInfo: %w", err)
	}
	e := &execCluster{c.Server, c.ServerName, c.Insecure, authority, c.ProxyURL, c.DisableCompression, nil}
	for _, x := range c.Extensions {
		if x.Name == naming.Translate(execGroup)+"/exec" {
			e.Config = x.Extension
		}
	}
	return e, nil
}

// execCredential is a plugin's input (Spec) and output (Status).
type execCredential struct {
	Kind       string      `json:"kind"`
	APIVersion string      `json:"apiVersion"`
	Spec       execSpec    `json:"spec"`
	Status     *execStatus `json:"status,omitempty"`
}

type execSpec struct {
	Cluster     *execCluster `json:"cluster,omitempty"`
	Interactive bool         `json:"interactive"`
}

type execStatus struct {
	Token           string     `json:"token"`
	CertificateData string     `json:"clientCertificateData"`
	KeyData         string     `json:"clientKeyData"`
	Expiration      *time.Time `json:"expirationTimestamp"`
}

// run runs the plugin and decodes its output. Errors do not contain the output.
func (p *plugin) run(ctx context.Context, _ *issued) (*issued, error) {
	interactive, err := p.programs.interactive(p.mode)
	if err != nil {
		return nil, p.fault(err)
	}
	info, err := json.Marshal(execCredential{"ExecCredential", p.APIVersion, execSpec{p.cluster, interactive}, nil})
	if err != nil {
		return nil, p.fault(err)
	}
	ctx, cancel := context.WithTimeout(ctx, p.programs.timeout())
	defer cancel()
	command := exec.CommandContext(ctx, p.path, p.Args...)
	command.Env = os.Environ()
	for _, one := range p.Env {
		command.Env = append(command.Env, one.Name+"="+one.Value)
	}
	command.Env = append(command.Env, p.naming.Translate("PLATFORM_EXEC_INFO")+"="+string(info))
	if interactive {
		command.Stdin = p.programs.Stdin
	}
	out := &boundedBuffer{left: maxOutput}
	command.Stdout, command.Stderr = out, p.programs.stderr()
	command.WaitDelay = time.Second // for child processes that the plugin leaves behind
	err = command.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist):
		return nil, p.missing()
	case out.left < 0:
		return nil, p.fault(fmt.Errorf("wrote more than %d bytes", maxOutput))
	case ctx.Err() != nil:
		return nil, p.fault(fmt.Errorf("did not exit within %v", p.programs.timeout()))
	case err != nil:
		return nil, p.fault(err)
	}
	i, err := p.read(out.text)
	if err != nil {
		return nil, p.fault(err)
	}
	return i, nil
}

func (p *plugin) fault(err error) error {
	return fmt.Errorf("the credential plugin %s: %w", p.Command, err)
}

func (p *plugin) missing() error {
	message := fmt.Sprintf("the credential plugin %s was not found; the user of the client configuration needs it", p.path)
	if p.InstallHint != "" {
		message += "\n\n" + p.InstallHint
	}
	return errors.New(message)
}

func (p *plugin) read(out []byte) (*issued, error) {
	var answer execCredential
	var wrong *json.UnmarshalTypeError
	switch err := json.Unmarshal(out, &answer); {
	case errors.As(err, &wrong) && wrong.Field != "":
		return nil, fmt.Errorf("%s of its output has the wrong type", wrong.Field)
	case err != nil:
		// err may quote the output, which may be secret.
		return nil, errors.New("did not write one ExecCredential in JSON")
	case answer.Kind != "ExecCredential":
		return nil, fmt.Errorf("wrote the kind %q instead of ExecCredential", answer.Kind)
	case answer.APIVersion != p.APIVersion:
		return nil, fmt.Errorf("wrote the apiVersion %q instead of %q", answer.APIVersion, p.APIVersion)
	case answer.Status == nil:
		return nil, errors.New("wrote no status")
	}
	return answer.Status.issued()
}

func (s *execStatus) issued() (*issued, error) {
	i := &issued{token: s.Token}
	if s.Expiration != nil {
		i.expires = *s.Expiration
	}
	if strings.ContainsFunc(s.Token, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return nil, errors.New("status.token contains blanks or control characters")
	}
	switch {
	case (s.CertificateData == "") != (s.KeyData == ""):
		return nil, errors.New("wrote only one of status.clientCertificateData and status.clientKeyData")
	case s.Token == "" && s.CertificateData == "":
		return nil, errors.New("wrote neither status.token nor status.clientCertificateData")
	case s.CertificateData == "":
		return i, nil
	}
	pair, err := tls.X509KeyPair([]byte(s.CertificateData), []byte(s.KeyData))
	if err != nil {
		return nil, errors.New("status.clientCertificateData and status.clientKeyData are not a PEM certificate and its key")
	}
	i.certificate = &pair
	return i, nil
}

// A boundedBuffer stores the bytes written to it, up to a limit. left is the remaining capacity. A
// write beyond the limit fails and makes left negative.
type boundedBuffer struct {
	text []byte
	left int
}

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errors.New("too much output")
	}
	b.text = append(b.text, p...)
	return len(p), nil
}
