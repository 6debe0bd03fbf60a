/** Keeps what a process knows on the local disk: the format, the directory, the reading back. */
@NullMarked
package dev.warmpath.eventingest.snapshot.file;

import org.jspecify.annotations.NullMarked;
