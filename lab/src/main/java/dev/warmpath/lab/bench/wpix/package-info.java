/** The file format WPIX, in which corpora are exchanged with other indexes. */
@NullMarked
package dev.warmpath.lab.bench.wpix;

import org.jspecify.annotations.NullMarked;
