package volume

// volumeSources are the sources of a PersistentVolume, sorted. Most have no driver any more, but
// stored volumes must be readable and deletable. The declaration requires exactly one.
var volumeSources = []string{
	"awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "csi", "fc", "flexVolume", "flocker",
	"gcePersistentDisk", "glusterfs", "hostPath", "iscsi", "local", "nfs", "photonPersistentDisk", "portworxVolume",
	"quobyte", "rbd", "scaleIO", "storageos", "vsphereVolume",
}
