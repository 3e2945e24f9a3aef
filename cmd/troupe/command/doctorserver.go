package command

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	_ "embed"
	"errors"
	"io"
	"net"
	"net/url"
	"time"

	"github.com/troupe-api/troupe/cmd/troupe/internal/client/rest"
	"github.com/troupe-api/troupe/internal/embedded"
)

//go:embed symptoms.json
var symptomTable []byte

// A symptom is a problem that shows in the daemon's metrics. symptoms.yaml describes the fields.
type symptom struct {
	Fine, Find, Advice string
	Grave              bool
}

func symptoms() (all []symptom) {
	embedded.Decode(symptomTable, &all)
	return all
}

// expiresSoon is the remaining validity below which doctor warns about a certificate.
const expiresSoon = 14 * 24 * time.Hour

func (d *diagnosis) lookAtServer(ctx context.Context, r *daemonClient) {
	d.printf("server %s\n", r.Server())
	s, err := r.scrape(ctx)
	if err != nil {
		advice := "Check the kubeconfig, and that its server is running: systemctl status troupe"
		if _, refused := errors.AsType[*rest.StatusError](err); refused {
			advice = "The user of the kubeconfig needs the permission to get /metrics: kubectl create clusterrolebinding monitoring --clusterrole=system:monitoring --user=USER"
		}
		d.fault(advice, "reading the metrics failed: %v", err)
		return
	}
	d.lookAtReadiness(ctx, r)
	for _, one := range symptoms() {
		switch what := s.fill(one.Find, nil); {
		case what == "":
			d.ok("%s", one.Fine)
		case one.Grave:
			d.fault(one.Advice, "%s", what)
		default:
			d.warn(one.Advice, "%s", what)
		}
	}
	d.lookAtServingCertificate(ctx, r.Server())
}

func (d *diagnosis) lookAtReadiness(ctx context.Context, r *daemonClient) {
	body, err := r.get(ctx, "/readyz?verbose")
	if err != nil {
		d.fault("A server is not ready while it starts or stops. Otherwise this shows the failed check, and the log its cause: kubectl get --raw '/readyz?verbose'", "the server is not ready: %v", err)
		return
	}
	defer body.Close()
	if _, err := io.Copy(io.Discard, body); err != nil {
		d.fault("Repeat the check: troupe doctor --kubeconfig FILE", "reading the response of /readyz failed: %v", err)
		return
	}
	d.ok("the server is ready")
}

// lookAtServingCertificate checks when the serving certificate expires. Earlier requests to the
// daemon have already verified the certificate.
func (d *diagnosis) lookAtServingCertificate(ctx context.Context, address string) {
	u, err := url.Parse(address)
	if err != nil {
		d.fault("Correct the address in the kubeconfig: kubectl config set-cluster CLUSTER --server=https://HOST:PORT", "%v", err)
		return
	}
	host := u.Host
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), "443")
	}
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
	connection, err := dialer.DialContext(ctx, "tcp", host)
	if err != nil {
		d.fault("Repeat the check, because earlier requests succeeded: troupe doctor --kubeconfig FILE", "reading the certificate failed: %v", err)
		return
	}
	defer connection.Close()
	for _, c := range connection.(*tls.Conn).ConnectionState().PeerCertificates[:1] {
		d.lookAtExpiry("the server's certificate", c, "Renew the files of --tls-cert-file, which the server rereads. A self-issued certificate is renewed on each start: systemctl restart troupe")
	}
}

func (d *diagnosis) lookAtExpiry(name string, c *x509.Certificate, advice string) {
	switch now, end := time.Now(), c.NotAfter.Local().Format(time.DateTime); {
	case now.After(c.NotAfter):
		d.fault(advice, "%s has expired on %s", name, end)
	case now.Before(c.NotBefore):
		d.fault("Correct the clock of this machine: timedatectl set-ntp true", "%s is not valid before %s", name, c.NotBefore.Local().Format(time.DateTime))
	case now.Add(expiresSoon).After(c.NotAfter):
		d.warn(advice, "%s expires on %s", name, end)
	default:
		d.ok("%s is valid until %s", name, end)
	}
}
