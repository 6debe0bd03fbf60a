package dev.warmpath.tokenizer.chat;

import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.template.syntax.TemplateException;

/**
 * A template error: what it means for a chat that its template failed. Its prompt is not known, for
 * a cause that is counted; words of the chat that the template raised are left out.
 */
public final class TemplateError {
  private TemplateError() {}

  /** The failure to throw in the place of the template's. */
  public static InexactPromptException inexact(TemplateException e) {
    return switch (e.kind()) {
      case RAISED, SYNTAX ->
          new InexactPromptException(
              FallbackCause.TEMPLATE_ERROR, "the template, line " + e.line() + ": " + e.kind());
      case UNSUPPORTED, LIMIT ->
          new InexactPromptException(
              FallbackCause.TEMPLATE_UNSUPPORTED,
              "the template, " + e.kind() + " at " + e.getMessage());
    };
  }
}
