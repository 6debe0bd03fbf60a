/**
 * The tokenizer files of a model directory, read and checked.
 *
 * <pre>{@code
 * directory or tokenizer.json ─▶ ModelFiles.read (SpecialTokens, TemplateSources) ─▶ ModelFiles
 * }</pre>
 *
 * <p>Start with {@link ModelFiles}. {@link EmbeddedFiles} is the small tokenizer that comes with
 * the program. Files that are missing or unusable are a {@link TokenizerLoadException}, whose
 * message names the file.
 */
@NullMarked
package dev.warmpath.tokenizer.files;

import org.jspecify.annotations.NullMarked;
