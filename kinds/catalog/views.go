package catalog

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// viewsBySubresource lists how sub-resources read and write their objects, by
// "group/version/Kind/sub-resource" in platform form. Those named status, and those with a
// declared scale, need no entry.
func viewsBySubresource(n *meta.Naming) map[string]schema.View {
	mirror := n.Translate("platform.io/config.mirror")
	return map[string]schema.View{
		"/v1/Namespace/finalize":      {Write: writeFinalizers},
		"/v1/PersistentVolume/status": {Write: writeVolumeStatus},
		"/v1/Pod/binding":             {Write: bindPod, KeepsGeneration: true},
		"/v1/Pod/ephemeralcontainers": ephemeralView(mirror),
		"/v1/Pod/resize":              resizeView(mirror),
		"/v1/Pod/status":              {Write: writePodStatus},
		"batch/v1/Job/status":         {Write: writeJobStatus},
		"certificates.platform.io/v1/CertificateSigningRequest/approval": {Write: writeApproval},
		"certificates.platform.io/v1/CertificateSigningRequest/status":   {Write: writeCertificate},
	}
}

// writeStatus changes the status, and nothing else.
func writeStatus(obj, body tree.Tree, _ string, _ *schema.Faults) error {
	obj.CopyField(body, "status")
	return nil
}

// writeFinalizers changes who must agree before a namespace goes.
func writeFinalizers(obj, body tree.Tree, _ string, _ *schema.Faults) error {
	obj.EnsureObject("spec").CopyField(body.Object("spec"), "finalizers")
	return nil
}
