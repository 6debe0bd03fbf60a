package dev.warmpath.tokenizer.template.tree;

/** One answer per kind of {@link Statement}. Confined to its thread. */
public interface StatementVisitor<R> {
  R scoped(Statement.Scoped scoped);

  R data(Statement.Data data);

  R output(Statement.Output output);

  R forLoop(Statement.For loop);

  R ifElse(Statement.If choice);

  R macro(Statement.Macro macro);

  R callBlock(Statement.CallBlock block);

  R filterBlock(Statement.FilterBlock block);

  R assign(Statement.Assign assign);

  R assignBlock(Statement.AssignBlock block);

  R with(Statement.With with);

  R jump(Statement.Jump jump);

  R foreign(Statement.Foreign foreign);
}
