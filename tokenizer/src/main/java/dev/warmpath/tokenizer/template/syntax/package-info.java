/**
 * Template text turned into a tree, by Jinja2's grammar; and the bounds and failures of all work on
 * templates.
 *
 * <pre>{@code
 * source ─▶ Lexer (TagLexer) ─▶ TokenStream ─▶ TemplateParser, BlockParser         ─▶ Statement
 *                                              ExpressionParser, OperandParser     ─▶ Expression
 * }</pre>
 *
 * <p>Start with {@link TemplateParser}; {@link Statement} and {@link Expression} are the nodes of
 * the tree. A construct that no model's own template executes is parsed and refused when it is
 * reached ({@link Unsupported}). {@link Budget} is what is left of one render's {@link
 * TemplateLimits}: parsing and running both draw on it. {@link TemplateException} is every failure,
 * and says whether Jinja2 would fail too.
 */
@NullMarked
package dev.warmpath.tokenizer.template.syntax;

import org.jspecify.annotations.NullMarked;
