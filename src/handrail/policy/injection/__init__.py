"""Distrust: does a text that came from outside try to give orders to whoever reads it?"""
