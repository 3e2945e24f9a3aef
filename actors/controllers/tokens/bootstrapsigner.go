package tokens

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// clusterInfo is a ConfigMap in the public namespace. The value under signedKey is signed. A
// token's signature is stored under signaturePrefix plus the token ID.
const (
	clusterInfo     = "cluster-info"
	signedKey       = "kubeconfig"
	signaturePrefix = "jws-kubeconfig-"
)

// BootstrapSigner signs the cluster-info ConfigMap with every bootstrap token whose usages include
// signing. A joining client that knows the token can then verify the CA. A signature is a JWS (RFC
// 7515) with a detached payload, signed with HS256 and the key that signingKey returns.
type BootstrapSigner struct {
	*bootstrapTokens
	maps reconcile.Client
	key  meta.Key
}

func NewBootstrapSigner(env *reconcile.Env) *BootstrapSigner {
	s := &BootstrapSigner{maps: env.Core("ConfigMap")}
	s.key = s.maps.Key(env.PublicNamespace(), clusterInfo)
	s.bootstrapTokens = newBootstrapTokens(env, s.sign)
	s.Watch(s.maps, reconcile.Updates(func(o *meta.Object) {
		if o.Key == s.key {
			s.Add(allTokens)
		}
	}))
	return s
}

func (s *BootstrapSigner) sign(ctx context.Context, all []bootstrapSecret, now time.Time) error {
	o, object, err := s.maps.Read(ctx, s.key)
	if err != nil || o == nil {
		return err
	}
	changes, err := signatures(s.Naming, object.Object("data"), all, now)
	if err != nil || len(changes) == 0 {
		return err
	}
	err = s.maps.Patch(ctx, o, "", tree.Tree{"data": changes})
	if reconcile.IsImmutable(err, object) {
		s.Log.Warn("cannot sign cluster-info", "error", err)
		return nil
	}
	return reconcile.Except(err, reconcile.IsConflict) // the watch triggers a retry
}

func signatures(naming *meta.Naming, data tree.Tree, all []bootstrapSecret, now time.Time) (tree.Tree, error) {
	changes := tree.Tree{}
	for key := range data {
		if strings.HasPrefix(key, signaturePrefix) {
			changes[key] = nil
		}
	}
	payload, there := data[signedKey].(string)
	for _, t := range all {
		if !there || !t.valid || !t.UsageSigning || t.Expired(now) {
			continue
		}
		key := signaturePrefix + t.ID
		signature, err := signDetached(payload, t.ID, signingKey(naming, t))
		if err != nil {
			return nil, err
		}
		if changes[key] = signature; data[key] == signature {
			delete(changes, key)
		}
	}
	return changes, nil
}

func base64URLText(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// signingKey returns the HMAC key of a signature. In the kubernetes profile, the key is only the
// secret part of the token, as Kubernetes clients such as kubeadm expect.
func signingKey(naming *meta.Naming, t bootstrapSecret) string {
	if naming == meta.Platform {
		return t.String()
	}
	return t.Secret
}

func signDetached(payload, id, key string) (string, error) {
	header, err := json.Marshal(map[string]string{"alg": jwt.SigningMethodHS256.Alg(), "kid": id})
	if err != nil {
		return "", err
	}
	head := base64URLText(header)
	signature, err := jwt.SigningMethodHS256.Sign(head+"."+base64URLText([]byte(payload)), []byte(key))
	if err != nil {
		return "", errors.New("signing with a bootstrap token")
	}
	return head + ".." + base64URLText(signature), nil
}
