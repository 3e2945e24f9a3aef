package custom

// CleanupFinalizer, in platform form, holds a definition that is deleted until its objects are gone.
const CleanupFinalizer = "customresourcecleanup.apiextensions.platform.io"
