package catalog_test

// CSIVolume is the source of a volume.
const CSIVolume = `"csi":{"driver":"d","volumeHandle":"h"}`
