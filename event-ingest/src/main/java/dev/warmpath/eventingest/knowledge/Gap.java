package dev.warmpath.eventingest.knowledge;

/**
 * Something that was missed.
 *
 * <p>Immutable.
 *
 * @param healable whether it was given up only because nobody answered
 */
public record Gap(String why, boolean healable) {}
