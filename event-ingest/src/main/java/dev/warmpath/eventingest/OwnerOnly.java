package dev.warmpath.eventingest;

import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;

/** How files are made that tell of prompts or hold keys: only their owner may read them. */
public final class OwnerOnly {

  private OwnerOnly() {}

  /** The attributes of a file that is to be created; none where the file system has none. */
  public static FileAttribute<?>[] attributes(Path file) {
    return file.getFileSystem().supportedFileAttributeViews().contains("posix")
        ? new FileAttribute<?>[] {
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
        }
        : new FileAttribute<?>[0];
  }
}
