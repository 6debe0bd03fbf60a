/**
 * {@code bench tokenize}, and {@code tokenize --goldens} and {@code --against}: what rendering and
 * encoding costs, and whether it gives what Jinja2 and running engines give. Start at {@code
 * TokenizeBench} and {@code CompareTokensCommand}.
 */
@NullMarked
package dev.warmpath.lab.tokens;

import org.jspecify.annotations.NullMarked;
