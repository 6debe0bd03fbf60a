/** What only SGLang does: page hashes that show name spaces which no field shows. */
@NullMarked
package dev.warmpath.eventingest.sglang;

import org.jspecify.annotations.NullMarked;
