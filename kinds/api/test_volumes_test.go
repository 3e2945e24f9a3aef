package api_test

// CSIVolume is a volume source.
const CSIVolume = `"csi":{"driver":"d","volumeHandle":"h"}`
