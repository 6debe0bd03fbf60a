package dev.warmpath.tokenizer.template.syntax;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Something that writes output or changes variables. */
public sealed interface Statement extends Node {

  /** The template's line, counted from 1. */
  int line();

  @Override
  default List<? extends Node> children() {
    return List.of();
  }

  /** The whole template, or a body with its own scope and nothing else: generation. */
  record Scoped(List<Statement> body, int height, int line) implements Statement {
    public Scoped {
      body = List.copyOf(body);
    }

    @Override
    public List<Statement> children() {
      return body;
    }
  }

  /** Text between tags. */
  record Data(String text, int line) implements Statement {}

  /** <code>{{ value }}</code>. */
  record Output(Expression value, int line) implements Statement {
    @Override
    public List<Expression> children() {
      return List.of(value);
    }
  }

  /** A loop over {@code items}, of those that pass {@code filter}. */
  record For(Loop loop, List<Statement> body, List<Statement> otherwise, int height, int line)
      implements Statement {
    public For {
      body = List.copyOf(body);
      otherwise = List.copyOf(otherwise);
    }

    @Override
    public List<Node> children() {
      List<Node> all = new ArrayList<>(List.of(loop.target(), loop.items()));
      if (loop.filter() != null) {
        all.add(loop.filter());
      }
      all.addAll(body);
      all.addAll(otherwise);
      return all;
    }
  }

  /** The head of a loop. */
  record Loop(
      Expression target, Expression items, @Nullable Expression filter, boolean isRecursive) {}

  /** {@code if}, each {@code elif}, and {@code else}. */
  record If(List<Branch> branches, List<Statement> otherwise, int line) implements Statement {
    public If {
      branches = List.copyOf(branches);
      otherwise = List.copyOf(otherwise);
    }

    @Override
    public List<Node> children() {
      List<Node> all = new ArrayList<>();
      for (Branch branch : branches) {
        all.add(branch.test());
        all.addAll(branch.body());
      }
      all.addAll(otherwise);
      return all;
    }
  }

  /** A test and what runs when it holds. */
  record Branch(Expression test, List<Statement> body, int line) {
    public Branch {
      body = List.copyOf(body);
    }
  }

  /** A macro's definition. */
  record Macro(String name, Signature signature, List<Statement> body, int height, int line)
      implements Statement {
    public Macro {
      body = List.copyOf(body);
    }

    @Override
    public List<Node> children() {
      return Stream.<Node>concat(Stream.of(signature), body.stream()).toList();
    }
  }

  /** A call that is handed its block as {@code caller}. */
  record CallBlock(
      Expression.Call call, Signature signature, List<Statement> body, int height, int line)
      implements Statement {
    public CallBlock {
      body = List.copyOf(body);
    }

    @Override
    public List<Node> children() {
      return Stream.<Node>concat(Stream.of(call, signature), body.stream()).toList();
    }
  }

  /** {@code set target = value}. */
  record Assign(Expression target, Expression value, int line) implements Statement {
    @Override
    public List<Expression> children() {
      return List.of(target, value);
    }
  }

  /** {@code set target}, the value being the block's output. */
  record AssignBlock(
      Expression target, Expression.@Nullable Filter filter, List<Statement> body, int line)
      implements Statement {
    public AssignBlock {
      body = List.copyOf(body);
    }

    @Override
    public List<Node> children() {
      Stream<Node> head = Stream.<Node>of(target, filter).filter(Objects::nonNull);
      return Stream.concat(head, body.stream()).toList();
    }
  }

  /** {@code break} or {@code continue}. */
  record Jump(boolean isBreak, int line) implements Statement {}

  /** A tag that is refused when it is reached. */
  record Refused(TemplateException failure, int line) implements Statement {}
}
