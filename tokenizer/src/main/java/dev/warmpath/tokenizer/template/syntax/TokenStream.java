package dev.warmpath.tokenizer.template.syntax;

import java.util.IdentityHashMap;
import java.util.List;

/**
 * The parser's place in the tokens, and its bounds: how deep rules may nest and how high the tree
 * may grow, so that neither parsing nor anything that walks the tree runs out of stack.
 *
 * <p>Confined to its thread.
 */
final class TokenStream {
  private static final int MAX_NESTING = 120;
  private static final int MAX_HEIGHT = 400;

  private final List<Token> tokens;
  private final Budget budget;
  private final IdentityHashMap<Node, Integer> heights = new IdentityHashMap<>();
  private int at;
  private int nesting;

  TokenStream(List<Token> tokens, Budget budget) {
    this.tokens = tokens;
    this.budget = budget;
  }

  Token current() {
    return tokens.get(at);
  }

  Token following() {
    return tokens.get(Math.min(at + 1, tokens.size() - 1));
  }

  Token next() {
    Token token = current();
    if (token.kind() != Token.Kind.END) {
      at++;
    }
    return token;
  }

  int line() {
    return current().line();
  }

  boolean at(Token.Kind kind) {
    return current().kind() == kind;
  }

  boolean atName(String name) {
    return current().isName(name);
  }

  boolean atOperator(String operator) {
    return current().isOperator(operator);
  }

  boolean skipName(String name) {
    boolean found = atName(name);
    at += found ? 1 : 0;
    return found;
  }

  boolean skipOperator(String operator) {
    boolean found = atOperator(operator);
    at += found ? 1 : 0;
    return found;
  }

  Token expect(Token.Kind kind, String wanted) {
    if (!at(kind)) {
      throw failure("expected " + wanted + ", got " + current().described());
    }
    return next();
  }

  void expectOperator(String operator) {
    if (!skipOperator(operator)) {
      throw failure("expected '" + operator + "', got " + current().described());
    }
  }

  void expectName(String name) {
    if (!skipName(name)) {
      throw failure("expected '" + name + "', got " + current().described());
    }
  }

  TemplateException failure(String message) {
    return TemplateException.syntax(message, line());
  }

  void enter() {
    if (++nesting > MAX_NESTING) {
      throw failure("nested deeper than " + MAX_NESTING);
    }
  }

  void leave() {
    nesting--;
  }

  /** Takes note of a new node's height, of which there is a bound. */
  <N extends Node> N noted(N node) {
    budget.built(1);
    int height = 1 + height(node.children());
    if (height > MAX_HEIGHT) {
      throw failure("more than " + MAX_HEIGHT + " operations within each other");
    }
    heights.put(node, height);
    return node;
  }

  int height(List<? extends Node> nodes) {
    int height = 0;
    for (Node node : nodes) {
      height = Math.max(height, heights.getOrDefault(node, 1));
    }
    return height;
  }
}
