package volume

// volumeSources lists the sources of a PersistentVolume, sorted. Most no longer have a driver, but
// stored volumes must remain readable and deletable. The declaration requires exactly one source.
var volumeSources = []string{
	"awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "csi", "fc", "flexVolume", "flocker",
	"gcePersistentDisk", "glusterfs", "hostPath", "iscsi", "local", "nfs", "photonPersistentDisk", "portworxVolume",
	"quobyte", "rbd", "scaleIO", "storageos", "vsphereVolume",
}
